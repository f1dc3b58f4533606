/** Says which failures of signing in the page can explain, and which may pass. */
import { RelayError, UnprovenHost } from "../client/relay_error.ts";
import type { PhoneState, SignInProblem } from "./state.ts";

/** Rethrows anything else. */
export function signInProblem(error: unknown): SignInProblem {
  if (error instanceof RelayError) return { code: error.code, message: error.message };
  if (error instanceof UnprovenHost) return { code: "unproven_host", message: error.message };
  throw error;
}

/** The page shows that a link got no answer: it is tried again once the network is back. */
export function waitsForNetwork({ signIn, pairing }: PhoneState): boolean {
  const problem = signIn.kind === "out" ? signIn.problem : pairing?.kind === "failed" ? pairing : undefined;
  return problem?.hasLink === true;
}
