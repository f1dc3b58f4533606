/** Why the link is down: from the close code, or for a failed handshake from the answers to HTTP requests. */
import { CLOSE } from "../protocol/errors.ts";
import type { RelayApi } from "./api.ts";
import { RelayError } from "./relay_error.ts";

type LinkProblemCode =
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
  | "wrong_role"
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
  /** The error of the request that found it. */
  cause?: unknown;
}

export const LINK_PROBLEMS: Readonly<Record<LinkProblemCode, string>> = {
  unauthenticated: "The relay does not know this key: use another key, or pair again.",
  missing_scope: "The key lacks the scope push:read: use a key that has it.",
  unreachable:
    "No relay answers at this address: check the network, and that the relay runs (svc up or svc server).",
  timeout: "The relay did not answer in time.",
  bad_answer: "The server at this address is not a relay: check the address.",
  handshake_failed:
    "The relay answers HTTP but not WebSocket: a proxy in between may be blocking WebSockets.",
  no_welcome: "The relay accepted the connection but did not answer the hello.",
  silent: "The relay has been silent for too long.",
  congested: "The relay stopped reading what was sent to it.",
  restarting: "The relay is restarting.",
  revoked: "This key was revoked, or lacks a scope: pair again, or use another key.",
  wrong_role: "This key is for another kind of device: pair again, or use another key.",
  replaced: "Another connection of this device took over.",
  device_taken: "Another key or home has this device id.",
  flood: "The relay closed the connection because too much was sent.",
  too_large: "The relay refused a message because it was too large.",
  slow: "The relay closed the connection because it was not read fast enough.",
  closed: "The connection was closed.",
};

export function linkProblem(code: LinkProblemCode): LinkProblem {
  return { code, message: LINK_PROBLEMS[code] };
}

/** The problem behind the end of an established connection. */
export function closeProblem({ code, reason }: { code: number; reason: string }): LinkProblem {
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
      if (reason.startsWith("wrong_role:")) return linkProblem("wrong_role");
      return reason === "" ? linkProblem("closed") : {
        code: "closed",
        message: `The relay closed the connection: ${reason}.`,
      };
  }
}

/** True for problems that an early retry will not fix: the next retry comes after the longest delay. */
export function isLasting(problem: LinkProblem | undefined): boolean {
  const lasting: LinkProblemCode[] = ["unauthenticated", "missing_scope", "revoked", "wrong_role"];
  lasting.push("replaced", "device_taken", "flood");
  return problem !== undefined && lasting.includes(problem.code);
}

/** True if only signing in again helps: after the other lasting problems, a later retry may succeed. */
export function needsSignIn(problem: LinkProblem | undefined): boolean {
  return isLasting(problem) && problem?.code !== "replaced" && problem?.code !== "flood";
}

/** No runtime reports why a handshake failed (Node 22 does not even fire close), so ask over HTTP: is the relay up, is the key good? */
export async function explainHandshake(api: RelayApi, signal: AbortSignal): Promise<LinkProblem> {
  try {
    await api.health({ signal });
    await api.listPushes({ limit: 1, signal });
    return linkProblem("handshake_failed");
  } catch (error) {
    return { ...linkProblem(error instanceof RelayError ? problemCode(error) : "unreachable"), cause: error };
  }
}

function problemCode({ code, status }: RelayError): LinkProblemCode {
  if (code === "unreachable" || code === "timeout" || code === "missing_scope") return code;
  if (code === "unauthenticated" || status === 401) return "unauthenticated";
  if (code === "bad_answer" && status >= 500) return "unreachable";
  return code === "bad_answer" ? "bad_answer" : "handshake_failed";
}
