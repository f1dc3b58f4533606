/** The hooks of installations: counted by the `hookId` of their pushes, muted and revoked by it. */
import { type Hook, HookChange, HookId, type HooksAnswer } from "../protocol/http.ts";
import type { HookRecord } from "../store/store.ts";
import { json, type KeyedCall, readBody } from "./call.ts";
import { Refusal } from "./problems.ts";
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
  if (hook === undefined) throw new Refusal("unknown_hook", "Cannot find a hook of this id in this account");
  return json(hookOf(hook));
}

/** Counts the push, and says whether its hook is muted. Throws the refusal of a revoked one. */
export async function countHook(
  { store, clock }: Services,
  { account, data }: { account: string; data: unknown },
): Promise<"told" | "muted"> {
  const id = hookIdOf(data);
  if (id === undefined) return "told";
  const state = await store.countHook({ account, id }, clock.now());
  if (state === "revoked") {
    throw new Refusal("hook_revoked", `Cannot take the push: the hook "${id}" was revoked`);
  }
  return state === "muted" ? "muted" : "told";
}

function hookIdOf(data: unknown): string | undefined {
  if (typeof data !== "object" || data === null || !("hookId" in data)) return undefined;
  return HookId.safeParse(data.hookId).data;
}

function hookOf({ account: _account, ...hook }: HookRecord): Hook {
  return hook;
}
