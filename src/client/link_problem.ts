/** Why the link is down, in words: from the close code, or from what HTTP says about a failed handshake. */
import { CLOSE } from "../protocol/errors.ts";
import type { RelayApi } from "./api.ts";
import { RelayError } from "./relay_error.ts";
import type { SocketEnd } from "./socket.ts";

export type LinkProblemCode =
  | "unauthenticated"
  | "missing_scope"
  | "unreachable"
  | "timeout"
  | "bad_answer"
  | "handshake_failed"
  | "no_welcome"
  | "silent"
  | "congested"
  | "restarting"
  | "revoked"
  | "replaced"
  | "device_taken"
  | "flood"
  | "too_large"
  | "slow"
  | "closed";

export interface LinkProblem {
  code: LinkProblemCode;
  /** One sentence for a log or a screen. */
  message: string;
}

const SENTENCES: Record<LinkProblemCode, string> = {
  unauthenticated: "The relay does not know this key: give another key, or pair again.",
  missing_scope: "The key lacks the scope push:read: use a key that has it.",
  unreachable: "No relay answers at this address: check the network, and that svc server runs.",
  timeout: "The relay gave no answer in time.",
  bad_answer: "Something answers at this address, and it is not a relay: check the address.",
  handshake_failed: "The relay answers HTTP but no WebSocket: a proxy in between may not pass WebSockets.",
  no_welcome: "The relay took the connection and did not answer the greeting.",
  silent: "Nothing came from the relay for too long.",
  congested: "The relay did not take what was sent to it.",
  restarting: "The relay restarts.",
  revoked: "This key was revoked, or lacks a scope: pair again, or give another key.",
  replaced: "Another connection of this device took over.",
  device_taken:
    'Another key or home has this device id. For a second host of this name, or a second home on this host, set "deviceName" in its config.json to a name of its own. After a change of keys, run where the relay is: svc devices release ID, or svc keys revoke OLD-KEY --only.',
  flood: "The relay closed the connection because too much was sent.",
  too_large: "The relay refused a message as too large.",
  slow: "The relay closed the connection because it was not read fast enough.",
  closed: "The connection was closed.",
};

export function linkProblem(code: LinkProblemCode): LinkProblem {
  return { code, message: SENTENCES[code] };
}

/** The problem that the end of an established connection names. */
export function closeProblem({ code, reason }: SocketEnd): LinkProblem {
  switch (code) {
    case CLOSE.REVOKED:
      return linkProblem("revoked");
    case CLOSE.REPLACED:
      return linkProblem("replaced");
    case CLOSE.DEVICE_TAKEN:
      return linkProblem("device_taken");
    case CLOSE.FLOOD:
      return linkProblem("flood");
    case CLOSE.SERVICE_RESTART:
      return linkProblem("restarting");
    case CLOSE.TOO_BIG:
      return linkProblem("too_large");
    case CLOSE.SLOW:
      return linkProblem("slow");
    default:
      return reason === "" ? linkProblem("closed") : {
        code: "closed",
        message: `The relay closed the connection: ${reason}.`,
      };
  }
}

/** Problems that another try soon will not mend: the next one comes after the longest wait. */
export function isLasting(problem: LinkProblem | undefined): boolean {
  const lasting: LinkProblemCode[] = ["unauthenticated", "missing_scope", "revoked"];
  lasting.push("replaced", "device_taken", "flood");
  return problem !== undefined && lasting.includes(problem.code);
}

/** No runtime tells why a handshake failed (Node 22 does not even close), so HTTP is asked: liveness, then the key. */
export async function explainHandshake(api: RelayApi, signal: AbortSignal): Promise<LinkProblem> {
  try {
    await api.health({ signal });
    await api.listPushes({ limit: 1, signal });
    return linkProblem("handshake_failed");
  } catch (error) {
    return linkProblem(error instanceof RelayError ? problemCode(error) : "unreachable");
  }
}

function problemCode({ code, status }: RelayError): LinkProblemCode {
  if (code === "unreachable" || code === "timeout" || code === "missing_scope") return code;
  if (code === "unauthenticated" || status === 401) return "unauthenticated";
  if (code === "bad_answer" && status >= 500) return "unreachable";
  return code === "bad_answer" ? "bad_answer" : "handshake_failed";
}
