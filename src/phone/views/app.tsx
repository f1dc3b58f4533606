/** Chooses the view for the current state. */
import type { JSX } from "preact";
import { useEffect, useState } from "preact/hooks";
import type { Ringing } from "../ringing.ts";
import { openedItem } from "../route.ts";
import { sessionKey } from "../sessions.ts";
import { outboxOf, type PhoneState } from "../state.ts";
import { STRINGS } from "../strings.ts";
import type { InboxActions } from "./inbox.tsx";
import type { LinkActions } from "./link_reader.tsx";
import { type PickerActions, PickerView } from "./picker.tsx";
import type { SessionActions } from "./session.tsx";
import type { SettingsActions } from "./settings.tsx";
import { lazyView, LinkNotice, Mark } from "./shared.tsx";
import type { PairingActions, SwapActions } from "./sign_in.tsx";

/** The list of sessions comes first; the other views are loaded when they are shown, or after the list. */
const InboxView = lazyView(async () => (await import("./inbox.tsx")).InboxView, { waiting: Waiting });
const SessionView = lazyView(async () => (await import("./session.tsx")).SessionView, { waiting: Waiting });
const NotificationsView = lazyView(async () => (await import("./notifications.tsx")).NotificationsView, {
  waiting: Waiting,
});
const SettingsView = lazyView(async () => (await import("./settings.tsx")).SettingsView, {
  waiting: Waiting,
});
const AuditView = lazyView(async () => (await import("./audit.tsx")).AuditView, { waiting: Waiting });
const AddHostView = lazyView(async () => (await import("./link_reader.tsx")).AddHostView, {
  waiting: Waiting,
});
const SignInView = lazyView(async () => (await import("./sign_in.tsx")).SignInView, { waiting: Waiting });
const PairingView = lazyView(async () => (await import("./sign_in.tsx")).PairingView, { waiting: Waiting });
const SwapView = lazyView(async () => (await import("./sign_in.tsx")).SwapView, { waiting: Waiting });

export interface AppActions
  extends
    SessionActions,
    PairingActions,
    InboxActions,
    SwapActions,
    LinkActions,
    SettingsActions,
    PickerActions {
  signIn(key: string): void;
  reconnectNow(): void;
}

interface Props {
  state: PhoneState;
  actions: AppActions;
  /** Undefined until it is loaded. */
  ringing: Ringing | undefined;
}

export function App({ state, actions, ringing }: Props): JSX.Element {
  switch (state.signIn.kind) {
    case "restoring":
      return <Waiting />;
    case "out":
    case "busy":
      return <SignInView signIn={state.signIn} onKey={actions.signIn} actions={actions} />;
    case "in":
      return <Routed state={state} actions={actions} ringing={ringing} />;
  }
}

function Waiting(): JSX.Element {
  return (
    <main class="splash">
      <Mark />
      <p class="visually-hidden" role="status">{STRINGS.app.restoring}</p>
    </main>
  );
}

function Routed({ state, actions, ringing }: Props): JSX.Element {
  useItemInView(state);
  const { route, link, pairing, swap } = state;
  if (swap !== undefined) return <SwapView swap={swap} state={state} actions={actions} />;
  if (pairing !== undefined) return <PairingView result={pairing} actions={actions} />;
  const { reconnectNow: onTryNow, signOut: onSignOut } = actions;
  const notice = <LinkNotice {...{ link, onTryNow, onSignOut }} unsent={outboxOf(state).length} />;
  switch (route.view) {
    case "picker":
      return <PickerView state={state} notice={notice} actions={actions} />;
    case "inbox":
      return <InboxView state={state} notice={notice} actions={actions} />;
    case "settings":
      return <SettingsView state={state} notice={notice} actions={actions} />;
    case "add-host":
      return <AddHostView notice={notice} actions={actions} />;
    case "audit":
      return (
        <AuditView
          key={route.deviceId}
          {...{ state, notice, actions }}
          deviceId={route.deviceId}
        />
      );
    case "notifications":
      return ringing === undefined
        ? <Waiting />
        : <NotificationsView state={state} ringing={ringing} notice={notice} />;
    case "session":
      return (
        <BesideList state={state} actions={actions}>
          <SessionView
            key={sessionKey(route)}
            state={state}
            name={route}
            panel={route.panel ?? "terminal"}
            item={route.item}
            option={route.option}
            notice={notice}
            actions={actions}
          />
        </BesideList>
      );
  }
}

interface BesideListProps {
  state: PhoneState;
  actions: AppActions;
  children: JSX.Element;
}

/** On a tablet, the list of sessions stays next to the open session. */
function BesideList({ state, actions, children }: BesideListProps): JSX.Element {
  const isWide = useMedia("(min-width: 760px) and (min-height: 500px)");
  // The session has the same place in the tree at any width, so that it keeps its state when the phone is unfolded.
  return (
    <div class={isWide ? "beside" : "alone"}>
      {isWide && (
        <nav class="beside-list" aria-label={STRINGS.picker.heading}>
          <PickerView state={state} notice={null} actions={actions} isBeside />
        </nav>
      )}
      {children}
    </div>
  );
}

/** Whether a media query holds, kept up to date. */
function useMedia(query: string): boolean {
  const [matches, setMatches] = useState(() => matchMedia(query).matches);
  useEffect(() => {
    const list = matchMedia(query);
    const update = (): void => setMatches(list.matches);
    update();
    list.addEventListener("change", update);
    return () => list.removeEventListener("change", update);
  }, [query]);
  return matches;
}

/** Scrolls to the item that a tapped notification opened, once it is loaded. */
function useItemInView({ route, inbox }: PhoneState): void {
  const item = openedItem(route);
  const isLoaded = item !== undefined && inbox.has(item);
  useEffect(() => {
    if (isLoaded) document.querySelector(`[data-id="${item}"]`)?.scrollIntoView({ block: "nearest" });
  }, [item, isLoaded]);
}
