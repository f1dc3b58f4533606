/** The settings: paired hosts, appearance, the account's devices and hooks, the export, and signing out. */
import type { JSX } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import type { RelayApi } from "../../client/api.ts";
import { RelayError } from "../../client/relay_error.ts";
import type { Device, DeviceRevoked, Hook } from "../../protocol/http.ts";
import { PAGE_LIMIT_MAX } from "../../protocol/limits.ts";
import { VERSION } from "../../protocol/version.ts";
import { download } from "../browser.ts";
import { formatAgo } from "../format_time.ts";
import { NOTIFICATION_TEXT } from "../notification_text.ts";
import {
  applyPreferences,
  type Preferences,
  readPreferences,
  TEXT_SIZES,
  THEMES,
  writePreferences,
} from "../preferences.ts";
import { formatRoute } from "../route.ts";
import type { Sealing } from "../sealing.ts";
import { type PhoneState, relayNow } from "../state.ts";
import { STRINGS } from "../strings.ts";
import { SETTINGS_STRINGS } from "../strings_settings.ts";
import { ADD_HOST_TEXT } from "./link_reader.tsx";
import { type MuteActions, MutedProjects } from "./mute.tsx";
import { LanguageSelect, Section } from "./settings_parts.tsx";
import { Command, PageHead, SealSign, useNow } from "./shared.tsx";

const TEXT = STRINGS.settings ?? SETTINGS_STRINGS;
const AGES_EVERY_MS = 15_000;

/** A paired host, by the name that it has on this phone. */
export type NamedHost = { deviceId: string; host: string };

export interface SettingsActions extends MuteActions {
  pairedHosts(): readonly NamedHost[];
  renameHost(deviceId: string, name: string): Promise<void>;
  forgetHost(deviceId: string): Promise<void>;
  /** The account's name, by which the user tells accounts apart, and this phone's device id. */
  account(): Promise<{ name: string; deviceId?: string | undefined } | undefined>;
  /** Throws RelayError, as do `hooks` and `revokeDevice`. */
  devices(): Promise<readonly Device[]>;
  hooks(): Promise<readonly Hook[]>;
  revokeDevice(id: string): Promise<Partial<DeviceRevoked>>;
  history(): Promise<HistorySource>;
  /** `isOver`: the key works no longer, so nothing but unsent messages is asked about. */
  signOut(isOver?: boolean): void;
}

interface Props {
  state: PhoneState;
  /** The link's notice. */
  notice: JSX.Element;
  actions: SettingsActions;
}

export function SettingsView({ state, notice, actions }: Props): JSX.Element {
  const isLive = state.link.kind === "live";
  const now = relayNow(state, useNow(AGES_EVERY_MS));
  return (
    <div class="page">
      <PageHead heading={TEXT.heading} back={TEXT.back} backTo={{ view: "picker" }} />
      <main class="picker settings">
        <Hosts state={state} now={now} actions={actions} />
        <a class="button secondary" href={formatRoute({ view: "notifications" })}>
          {NOTIFICATION_TEXT.notifications.link}
        </a>
        <Appearance />
        <MutedProjects state={state} now={now} actions={actions} />
        <Devices {...{ now, actions, isLive }} />
        <Hooks {...{ now, actions, isLive }} />
        <History actions={actions} />
        <About actions={actions} />
        <button type="button" class="secondary" onClick={() => actions.signOut()}>{TEXT.signOut}</button>
      </main>
      {notice}
    </div>
  );
}

/** Whether a device is online is only known while the page itself is connected. */
function presence(of: Pick<Device, "online" | "lastSeen">, at: { now: number; isLive: boolean }): string {
  if (of.online) return at.isLive ? TEXT.online : TEXT.notKnown;
  return TEXT.lastSeen(formatAgo(at.now - of.lastSeen));
}

interface PartProps {
  now: number;
  actions: SettingsActions;
}

function Hosts({ state, now, actions }: PartProps & { state: PhoneState }): JSX.Element {
  const hosts = actions.pairedHosts();
  return (
    <Section name="hosts" heading={TEXT.hosts} {...(hosts.length === 0 ? { hint: TEXT.noHosts } : {})}>
      <ul class="cards">
        {hosts.map((host) => <HostCard key={host.deviceId} {...{ state, host, now, actions }} />)}
      </ul>
      <a class="button secondary" href={formatRoute({ view: "add-host" })}>{ADD_HOST_TEXT.heading}</a>
    </Section>
  );
}

function HostCard({ state, host, now, actions }: PartProps & { state: PhoneState; host: NamedHost }) {
  const [renaming, setRenaming] = useState(false);
  const device = state.devices?.find(({ deviceId }) => deviceId === host.deviceId);
  const forget = (): void => {
    if (confirm(TEXT.forgetAsk(host.host))) void actions.forgetHost(host.deviceId);
  };
  const save = (name: string): void => {
    setRenaming(false);
    void actions.renameHost(host.deviceId, name);
  };
  return (
    <li class="card">
      <div class="card-head">
        <span class="label">{host.host}</span>
      </div>
      <p class="facts">
        <SealSign mode="psk" />
        <span>{device ? presence(device, { now, isLive: state.link.kind === "live" }) : TEXT.offline}</span>
      </p>
      {renaming
        ? <RenameForm host={host} onSave={save} onCancel={() => setRenaming(false)} />
        : (
          <div class="row-actions">
            <a class="button quiet" href={formatRoute({ view: "audit", deviceId: host.deviceId })}>
              {TEXT.audit}
            </a>
            <button type="button" class="quiet" onClick={() => setRenaming(true)}>{TEXT.rename}</button>
            <button type="button" class="quiet" onClick={forget}>{TEXT.forget}</button>
          </div>
        )}
    </li>
  );
}

function RenameForm(
  { host, onSave, onCancel }: { host: NamedHost; onSave(name: string): void; onCancel(): void },
): JSX.Element {
  const [name, setName] = useState(host.host);
  const field = useRef<HTMLInputElement>(null);
  useEffect(() => field.current?.select(), []);
  const submit = (event: Event): void => {
    event.preventDefault();
    if (name.trim() !== "") onSave(name.trim());
  };
  return (
    <form class="panel" onSubmit={submit}>
      <label for={`name-${host.deviceId}`}>{TEXT.renameLabel}</label>
      <div class="field">
        <input
          ref={field}
          id={`name-${host.deviceId}`}
          maxLength={60}
          value={name}
          onInput={(event) => setName(event.currentTarget.value)}
        />
        <button type="submit" class="quiet" disabled={name.trim() === ""}>{TEXT.save}</button>
      </div>
      <button type="button" class="quiet" onClick={onCancel}>{TEXT.cancel}</button>
    </form>
  );
}

function Appearance(): JSX.Element {
  const [chosen, setChosen] = useState(readPreferences);
  const [kept, setKept] = useState(true);
  const choose = (change: Partial<Preferences>): void => {
    const next = { ...chosen, ...change };
    setChosen(next);
    setKept(writePreferences(next));
    applyPreferences(next, document);
  };
  return (
    <Section name="appearance" heading={TEXT.appearance}>
      <div class="card">
        <label class="setting">
          <span>{TEXT.theme}</span>
          <select
            value={chosen.theme}
            onChange={({ currentTarget: { selectedIndex } }) =>
              choose({ theme: THEMES[selectedIndex] ?? "system" })}
          >
            {THEMES.map((theme) => <option key={theme} value={theme}>{TEXT.themes[theme]}</option>)}
          </select>
        </label>
        <label class="setting">
          <span>{TEXT.textSize}</span>
          <select
            value={chosen.textSize}
            onChange={({ currentTarget: { selectedIndex } }) =>
              choose({ textSize: TEXT_SIZES[selectedIndex] ?? 100 })}
          >
            {TEXT_SIZES.map((size) => <option key={size} value={size}>{TEXT.textSizes[size]}</option>)}
          </select>
        </label>
        <label class="setting">
          <span>{STRINGS.app.language}</span>
          <LanguageSelect />
        </label>
        {!kept && <p class="hint" role="status">{TEXT.notKept}</p>}
      </div>
    </Section>
  );
}

type Loaded<T> = { kind: "loading" } | { kind: "loaded"; value: T } | { kind: "failed" };

/** Reads from the relay when the view opens and, if that failed, when the link is back; `again` repeats it. */
function useRelay<T>(
  read: () => Promise<T>,
  isLive: boolean,
): { loaded: Loaded<T>; again(): Promise<void> } {
  const [loaded, setLoaded] = useState<Loaded<T>>({ kind: "loading" });
  const again = async (): Promise<void> => {
    try {
      setLoaded({ kind: "loaded", value: await read() });
    } catch (error) {
      if (!(error instanceof RelayError)) throw error;
      setLoaded({ kind: "failed" });
    }
  };
  useEffect(() => {
    if (loaded.kind !== "loaded") void again();
  }, [isLive]);
  return { loaded, again };
}

/** Shows that the relay has not answered yet, or that it did not answer. */
function Pending({ loaded }: { loaded: Loaded<unknown> }): JSX.Element | null {
  if (loaded.kind === "loaded") return null;
  return <p class="hint" role="status">{loaded.kind === "loading" ? TEXT.loading : TEXT.readAgain}</p>;
}

function Devices({ now, actions, isLive }: PartProps & { isLive: boolean }): JSX.Element {
  const { loaded, again } = useRelay(async () => {
    const [devices, account] = await Promise.all([actions.devices(), actions.account()]);
    return { devices, own: account?.deviceId };
  }, isLive);
  const { devices, own } = loaded.kind === "loaded" ? loaded.value : { devices: [], own: undefined };
  return (
    <Section name="devices" heading={TEXT.devices} hint={TEXT.devicesHint}>
      <Pending loaded={loaded} />
      <ul class="cards">
        {devices.map((device) => (
          <DeviceCard
            key={device.id}
            {...{ device, now, actions, isLive }}
            isOwn={device.id === own}
            isAlike={devices.filter(({ name }) => name === device.name).length > 1}
            isPaired={actions.pairedHosts().length > 0}
            onRevoked={() => void again()}
          />
        ))}
      </ul>
    </Section>
  );
}

function DeviceCard(
  { device, now, actions, isLive, isOwn, isAlike, isPaired, onRevoked }: PartProps & {
    device: Device;
    /** Another device has the same name. */
    isAlike: boolean;
    /** This phone was paired by a host. */
    isPaired: boolean;
    isLive: boolean;
    isOwn: boolean;
    onRevoked(): void;
  },
): JSX.Element {
  const [refused, setRefused] = useState<"missing_scope" | "failed">();
  const revoke = async (): Promise<void> => {
    // The key of a phone that a host paired never has admin.
    if (isPaired) return setRefused("missing_scope");
    if (!confirm(TEXT.revokeAsk(device.name))) return;
    try {
      const { workingKey } = await actions.revokeDevice(device.id);
      onRevoked();
      if (workingKey !== undefined) alert(TEXT.keyWorks(workingKey));
    } catch (error) {
      if (!(error instanceof RelayError)) throw error;
      setRefused(error.code === "missing_scope" ? "missing_scope" : "failed");
    }
  };
  return (
    <li class="card">
      <div class="card-head">
        <span class="label">{device.name}</span>
        {isOwn && <span class="chip">{TEXT.thisDevice}</span>}
      </div>
      <p class="facts">
        <span>{TEXT.kinds[device.kind]}</span>
        <span>{presence(device, { now, isLive })}</span>
        {isAlike && <span>{device.id}</span>}
      </p>
      {!isOwn && refused !== "missing_scope" && (
        <div class="row-actions">
          <button
            type="button"
            class="quiet"
            aria-label={`${TEXT.revoke} ${device.name}`}
            onClick={() => void revoke()}
          >
            {TEXT.revoke}
          </button>
        </div>
      )}
      <div role="alert">
        {refused === "failed" && <p class="problem">{TEXT.failed}</p>}
        {refused === "missing_scope" && <p class="hint">{TEXT.revokeOnHost}</p>}
      </div>
      {refused === "missing_scope" && <Command text={TEXT.revokeCommand(device.id)} />}
    </li>
  );
}

function Hooks({ now, actions, isLive }: PartProps & { isLive: boolean }): JSX.Element {
  const { loaded } = useRelay(() => actions.hooks(), isLive);
  const hooks = loaded.kind === "loaded" ? loaded.value : [];
  return (
    <Section name="hooks" heading={TEXT.hooks} hint={TEXT.hooksHint}>
      <Pending loaded={loaded} />
      {loaded.kind === "loaded" && hooks.length === 0 && <p class="hint">{TEXT.noHooks}</p>}
      <ul class="cards">
        {hooks.map(({ id, state, pushes, lastSeen }) => (
          <li key={id} class="card">
            <div class="card-head">
              <span class="label">{id}</span>
              <span class="chip">{TEXT.hookStates[state]}</span>
            </div>
            <p class="facts">
              <span>{TEXT.hookPushes(pushes)}</span>
              <span>{TEXT.lastSeen(formatAgo(now - lastSeen))}</span>
            </p>
          </li>
        ))}
      </ul>
    </Section>
  );
}

interface HistorySource {
  api: Pick<RelayApi, "listPushes">;
  sealing: Pick<Sealing, "openRecords">;
}

/** Exports every push that the relay keeps, oldest first, one line of JSON each. Throws RelayError. */
async function exportHistory(
  { api, sealing }: HistorySource,
  onProgress: (pushes: number) => void,
): Promise<Blob> {
  const lines: string[] = [];
  for (let after: string | undefined, isLast = false; !isLast;) {
    const { pushes, next } = await api.listPushes({ limit: PAGE_LIMIT_MAX, ...(after ? { after } : {}) });
    const records = await sealing.openRecords(pushes);
    lines.push(...records.map((record) => `${JSON.stringify(record)}\n`));
    onProgress(lines.length);
    after = next;
    isLast = next === undefined || pushes.length === 0;
  }
  return new Blob(lines, { type: "application/jsonl" });
}

function History({ actions }: { actions: SettingsActions }): JSX.Element {
  const [progress, setProgress] = useState<number | "failed">();
  const save = async (): Promise<void> => {
    try {
      setProgress(0);
      download(
        await exportHistory(await actions.history(), setProgress),
        `svc-${new Date().toISOString().slice(0, 10)}.jsonl`,
      );
      setProgress(undefined);
    } catch (error) {
      if (!(error instanceof RelayError)) throw error;
      setProgress("failed");
    }
  };
  const isBusy = typeof progress === "number";
  return (
    <Section name="history" heading={TEXT.history} hint={TEXT.historyHint}>
      <button type="button" class="secondary" disabled={isBusy} onClick={() => void save()}>
        {isBusy ? TEXT.exporting(progress) : TEXT.exportAll}
      </button>
      <div role="alert">{progress === "failed" && <p class="problem">{TEXT.failed}</p>}</div>
    </Section>
  );
}

function About({ actions }: { actions: SettingsActions }): JSX.Element {
  const [account, setAccount] = useState<string>();
  useEffect(() => void actions.account().then((found) => setAccount(found?.name)), []);
  return (
    <Section name="about" heading={TEXT.about}>
      <dl class="card accounts">
        <dt>{TEXT.account}</dt>
        <dd>{account ?? TEXT.unknownAccount}</dd>
        <dt>{TEXT.relay}</dt>
        <dd>{new URL(".", location.href).href}</dd>
        <dt>{TEXT.version}</dt>
        <dd>{VERSION}</dd>
      </dl>
    </Section>
  );
}
