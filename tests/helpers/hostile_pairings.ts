/** Attacks by a hostile relay on a pairing, and on the phone's list of hosts. */
import assert from "node:assert/strict";
import { createRelayApi } from "../../src/client/api.ts";
import { type Attack, type HttpCall, isSame, WAYS } from "./hostile_relay.ts";
import { mintedListener, newPublicKey } from "./hostile_parties.ts";
import { attacked, type Expectation, type HostileStage, type Row } from "./hostile_stage.ts";
import { PagePhone } from "./page_phone.ts";
import { startSvc } from "./program.ts";
import { until } from "./until.ts";

type Data = Record<string, unknown>;

const UNPROVEN = /^The relay could not prove that this code comes from your host/;
const NOT_PAIRED = /^Not paired: "\w+" claimed the code without its secret/m;

const isClaim = ({ method, path }: HttpCall): boolean => method === "POST" && path.endsWith("/claim");
const isStatus = ({ method, path }: HttpCall): boolean => method === "GET" && path.startsWith("/pairings/");

/** Runs `svc pair` while a new phone opens its link. */
function pairing(
  name: string,
  expect: Expectation,
  attackOf: (stage: HostileStage) => Attack | Promise<Attack>,
): Row {
  return {
    name,
    expect: { psk: expect },
    run: async (stage) => {
      stage.attack(await attackOf(stage));
      const { stack, relay } = stage;
      const waiting = startSvc(stack.sandbox, ["pair"]);
      const [link = ""] = await waiting.line(/^http\S+#pair=\S+$/);
      const phone = new PagePhone({ baseUrl: relay.url, name: "newcomer" });
      await phone.open(link);
      await waiting.exited;
      const words = (): string => {
        const { pairing: news } = phone.store.get();
        if (news?.kind !== "words") return phone.signInWords();
        const isSame = waiting.output().includes(`\n  ${news.words.join(" ")}\n`);
        return isSame ? "Paired, with the host's six words" : "Six words that the host does not show";
      };
      return { ...attacked(phone), words, shown: () => "", host: () => waiting.output() };
    },
  };
}

const OFFERS: readonly Row[] = [
  pairing("pairs the phone with a key of its own", { phone: UNPROVEN }, async () => {
    const publicKey = await newPublicKey();
    return {
      answer: (body, call) => {
        const { offer, ...claimed } = body as { offer: Data };
        return isClaim(call) ? { ...claimed, offer: { ...offer, publicKey } } : body;
      },
    };
  }),
  pairing("withholds the host's offer from the phone", { phone: UNPROVEN }, () => ({
    answer: (body, call) => {
      const { offer: _offer, ...claimed } = body as Data;
      return isClaim(call) ? claimed : body;
    },
  })),
  pairing("pairs the host with a key of its own", { host: NOT_PAIRED }, async () => {
    const publicKey = await newPublicKey();
    return { call: (call) => ({ body: isClaim(call) ? { ...call.body as Data, publicKey } : call.body }) };
  }),
  pairing("withholds the phone's proof from the host", {
    host: /^Joined without sealing: newcomer/m,
    phone: /^Six words that the host does not show/,
  }, () => ({
    call: (call) => {
      const { proof: _proof, publicKey: _key, ...claim } = (call.body ?? {}) as Data;
      return { body: isClaim(call) ? claim : call.body };
    },
  })),
  pairing("reports another device id of the phone to the host", {
    phone: /^Six words that the host does not show/,
  }, () => ({
    answer: (body, call) => {
      const { phone, ...status } = body as { phone?: Data };
      if (!isStatus(call) || phone === undefined) return body;
      return { ...status, phone: { ...phone, deviceId: "dev_phone_other" } };
    },
  })),
  pairing("claims the code itself", { host: NOT_PAIRED, phone: /has been used/ }, async ({ stack }) => {
    const publicKey = await newPublicKey();
    return {
      // Claims the code before the host receives it, so that the phone cannot be faster.
      answer: async (body, { method, path }) => {
        if (method !== "POST" || path !== "/pairings") return body;
        const { code } = body as { code: string };
        await createRelayApi({ baseUrl: stack.url })
          .claimPairing(code, { name: "thief", publicKey, proof: "A".repeat(43) });
        return body;
      },
    };
  }),
];

const INVENTED = "dev_listener_invented";

/** Swaps the labels of the first and the last session. */
function swapped({ devices }: { devices: Data[] }): { devices: Data[] } {
  return {
    devices: devices.map((device) => {
      const sessions = device.sessions as Data[];
      const [first, last] = [sessions.at(0), sessions.at(-1)];
      const words = ({ label, project }: Data = {}): Data => ({ label, project });
      return {
        ...device,
        host: "another-host",
        sessions: [{ ...first, ...words(last) }, { ...last, ...words(first) }],
      };
    }),
  };
}

const LISTS: readonly Row[] = [
  {
    name: "swaps the names of two sessions, and renames the host",
    expect: { psk: { outcome: "no effect", phone: /^\S+ svc-proj, svc-other$/ } },
    run: async (stage) => {
      const isOurs = (path: string): boolean => path === "/sessions";
      stage.attack({
        frame: (frame, way) => frame.event === "sessions.changed" && isSame(way, WAYS.toPhone) ? [] : [frame],
        answer: (body, { path }) => isOurs(path) ? swapped(body as { devices: Data[] }) : body,
      });
      const phone = await stage.phone();
      const words = (): string => {
        const [device] = phone.store.get().devices ?? [];
        const labels = [stage.session.name, stage.other.name].map((name) =>
          device?.sessions.find((entry) => entry.name === name)?.label
        );
        return `${device?.host} ${labels.join(", ")}`;
      };
      assert.equal(phone.store.get().devices?.[0]?.host, Deno.hostname());
      return { ...attacked(phone), words };
    },
  },
  {
    name: "lists the session under a host of its own",
    expect: {
      psk: { phone: /Host not verified, encrypted/, shown: true },
      base: { outcome: "gap", phone: /Host not verified, encrypted/, shown: true },
    },
    run: async (stage) => {
      const { name } = stage.session;
      stage.attack({
        ...mintedListener(stage, { seals: true }),
        answer: (body, { path }) => {
          if (path !== "/sessions") return body;
          const { devices } = body as { devices: Data[] };
          return { devices: [...devices, { ...devices[0], deviceId: INVENTED }] };
        },
      });
      const phone = await stage.phone();
      await until("the invented host", () => phone.hostOf(name, INVENTED) === INVENTED);
      assert.ok(!phone.store.get().paired.has(INVENTED));
      return attacked(phone, phone.watch(name, INVENTED));
    },
  },
];

export const PAIRING_ROWS: readonly Row[] = [...OFFERS, ...LISTS];
