/** The hooks of each installation, by the `hookId` in their pushes: counted, muted and revoked. */
import { type Hook, HookChange, HookId, type HooksAnswer } from "../protocol/http.ts";
import type { HookRecord } from "../store/store.ts";
import { json, type KeyedCall, readBody, Refusal } from "./handler.ts";
import type { Services } from "./services.ts";

/** `GET /hooks`. */
export async function listHooks({ store }: Services, { key }: KeyedCall): Promise<Response> {
  const answer: HooksAnswer = { hooks: (await store.listHooks(key.account)).map(hookOf) };
  return json(answer);
}

/** `PUT /hooks/{id}`. */
export async function changeHook({ store }: Services, call: KeyedCall): Promise<Response> {
  const { state } = await readBody(call, { schema: HookChange, code: "invalid_request" });
  const hook = await store.setHookState({ account: call.key.account, id: call.param("id") }, state);
  if (hook === undefined) {
    throw new Refusal("unknown_hook", "Cannot find a hook with this id in this account");
  }
  return json(hookOf(hook));
}

/** Counts the push and returns whether its hook is muted. Refuses a push of a revoked hook. */
export async function countHook(
  { store, clock }: Services,
  { account, data }: { account: string; data: unknown },
): Promise<"active" | "muted"> {
  const id = hookIdOf(data);
  if (id === undefined) return "active";
  const state = await store.countHook({ account, id }, clock.now());
  if (state === "revoked") {
    throw new Refusal("hook_revoked", `Cannot accept the push: the hook "${id}" was revoked`);
  }
  return state;
}

function hookIdOf(data: unknown): string | undefined {
  if (typeof data !== "object" || data === null || !("hookId" in data)) return undefined;
  return HookId.safeParse(data.hookId).data;
}

function hookOf({ account: _account, ...hook }: HookRecord): Hook {
  return hook;
}
