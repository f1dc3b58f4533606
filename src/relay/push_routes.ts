/** The HTTP routes of pushes, and of the hooks that send them. */
import { type Hook, HookChange, type HooksAnswer } from "../protocol/http.ts";
import { isLateAnswerId } from "../protocol/late_answer.ts";
import {
  PAGE_LIMIT_DEFAULT,
  PAGE_LIMIT_MAX,
  PAGE_MAX_BYTES,
  STORED_PER_DAY_MAX_BYTES,
} from "../protocol/limits.ts";
import {
  type PushAccepted,
  PushId,
  type PushPage,
  type PushRecord,
  PushRequest,
  rulesOf,
} from "../protocol/push.ts";
import { type HookRecord, type KeyRecord, STORED_REGAINED_PER_MS, type StoredPush } from "../store/store.ts";
import { acceptAnswer, acceptAsk } from "./asks.ts";
import { OVER_BUDGET } from "./budgets.ts";
import { json, type KeyedCall, overBudget, readBody, readPage, Refusal, type Services } from "./handler.ts";
import { acceptCancel, acceptPush, type IncomingPush } from "./pushes.ts";

/** `POST /pushes/send`. */
export async function sendPush(services: Services, call: KeyedCall): Promise<Response> {
  const request = await readBody(call, { schema: PushRequest, code: "invalid_push" });
  const { account, deviceId, id } = call.key;
  const push: IncomingPush = { account, from: deviceId ?? id, request };
  await checkStorage(services, push);
  await checkReplyTo(services, { key: call.key, request });
  checkRole(call.key, request);
  await checkCancel(services, { key: call.key, push });
  return json(await accept(services, push), 202);
}

/** Each type of push has its own checks. */
function accept(services: Services, push: IncomingPush): Promise<PushAccepted> {
  switch (push.request.type) {
    case "ask":
      return acceptAsk(services, push);
    case "ask.answer":
      return acceptAnswer(services, push);
    case "agent.cancel":
      return acceptCancel(services, push);
    default:
      return acceptPush(services, push);
  }
}

/**
 * Throws Refusal when the sender has stored too much. The store keeps the count, so a restart of the relay does not
 * reset it. A push that is already stored gets its first answer, because a refusal would mean that it was not stored.
 */
async function checkStorage({ store, clock, metrics }: Services, sender: IncomingPush): Promise<void> {
  const over = await store.storedBytes(sender, clock.now()) - STORED_PER_DAY_MAX_BYTES;
  if (over < 0) return;
  const { account, request: { id } } = sender;
  if (id !== undefined && await store.findPush({ account, id }) !== undefined) return;
  metrics.of(OVER_BUDGET).add({ budget: "stored_bytes" });
  const wait = Math.ceil((over + 1) / STORED_REGAINED_PER_MS / 1_000);
  throw overBudget(`the key has stored ${STORED_PER_DAY_MAX_BYTES} bytes within a day`, wait);
}

/** Throws Refusal if a question names another key's device as the recipient of the answer. */
async function checkReplyTo(
  { store }: Services,
  { key, request }: { key: KeyRecord; request: PushRequest },
): Promise<void> {
  const id = request.type === "ask" ? request.data?.["replyTo"] : undefined;
  if (typeof id !== "string") return;
  const owner = await store.deviceOwner({ account: key.account, id });
  if (owner === undefined || owner === key.id) return;
  const errors = [{ pointer: "/data/replyTo", detail: "a device of the sender's own key" }];
  throw new Refusal("invalid_push", "Cannot accept the question: another key's device would get the answer", {
    errors,
  });
}

function checkRole({ role }: KeyRecord, { type }: PushRequest): void {
  if (rulesOf(type).isUsersOnly !== true || role === "phone" || role === undefined) return;
  throw new Refusal("wrong_role", `Cannot accept "${type}": this key is a ${role}'s, and not a phone's`);
}

/**
 * A phone may cancel any sender's message; any other key only its own. A cancellation of a message that has not arrived
 * reserves its id, which is not allowed with the id of a late answer.
 */
async function checkCancel(
  { store }: Services,
  { key, push: { account, from, request } }: { key: KeyRecord; push: IncomingPush },
): Promise<void> {
  const { type, inReplyTo: id } = request;
  if (type !== "agent.cancel" || id === undefined) return;
  if (key.role === "phone" && !isLateAnswerId(id)) return;
  const cancelled = await store.findPush({ account, id });
  if (cancelled === undefined && isLateAnswerId(id)) {
    throw new Refusal(
      "unknown_push",
      `Cannot cancel the message "${id}": the relay has sent none with this id`,
    );
  }
  if (cancelled === undefined || key.role === "phone" || cancelled.push.from === from) return;
  throw new Refusal(
    "wrong_role",
    `Cannot cancel the message "${id}": another key sent it, and this one is not a phone's`,
  );
}

/** `GET /pushes/{id}`. */
export async function getPush({ store }: Services, call: KeyedCall): Promise<Response> {
  const stored = await store.findPush({ account: call.key.account, id: call.param("id") });
  if (stored === undefined) {
    throw new Refusal("unknown_push", "Cannot find a push with this id in this account");
  }
  return json(recordOf(stored));
}

/** `GET /pushes?after=&before=&open=&limit=`: the cursor is a push's id. */
export async function listPushes(services: Services, call: KeyedCall): Promise<Response> {
  const { store } = services;
  const limit = pageLimit(call.query("limit"));
  const after = cursor(call, "after");
  const before = cursor(call, "before");
  if (after !== undefined && before !== undefined) {
    throw new Refusal("invalid_request", "Cannot page in both directions: give either after or before");
  }
  const openQuestions = onlyQuestions(call.query("open"));
  const { account } = call.key;
  const page = await readPage(services, {
    key: call.key,
    async read() {
      const bytes = PAGE_MAX_BYTES;
      const value = await store.pagePushes({ account, after, before, openQuestions, limit, bytes });
      return { value, bytes: value?.bytes ?? 0 };
    },
  });
  if (page === undefined) throw badCursor("names no push of this account");
  const pushes = page.pushes.map(recordOf);
  const next = page.hasMore ? pushes.at(before === undefined ? -1 : 0)?.push.id : undefined;
  const answer: PushPage = next === undefined ? { pushes } : { pushes, next };
  return json(answer);
}

const recordOf = ({ push, receipt }: StoredPush): PushRecord => ({ push, receipt });

function pageLimit(text: string | undefined): number {
  if (text === undefined) return PAGE_LIMIT_DEFAULT;
  const limit = /^\d{1,3}$/.test(text) ? Number(text) : 0;
  if (limit >= 1 && limit <= PAGE_LIMIT_MAX) return limit;
  throw new Refusal(
    "invalid_request",
    `Cannot use the limit: it must be a whole number from 1 to ${PAGE_LIMIT_MAX}`,
  );
}

function onlyQuestions(text: string | undefined): boolean {
  if (text === undefined) return false;
  if (text === "questions") return true;
  throw new Refusal(
    "invalid_request",
    `Cannot list open "${text}": only open "questions" are listed`,
  );
}

function cursor(call: KeyedCall, name: "after" | "before"): string | undefined {
  const text = call.query(name);
  if (text === undefined || text === "") return undefined;
  if (PushId.safeParse(text).success || (name === "before" && text === "end")) return text;
  throw badCursor("is not a push id");
}

function badCursor(why: string): Refusal {
  return new Refusal("invalid_request", `Cannot page from the cursor: it ${why}; give the id of a push`);
}

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

function hookOf({ account: _account, ...hook }: HookRecord): Hook {
  return hook;
}
