/** Says which failures of signing in the page can explain. */
import { RelayError, UnprovenHost } from "../client/relay_error.ts";
import type { SignInProblem } from "./state.ts";

/** Rethrows anything else. */
export function signInProblem(error: unknown): SignInProblem {
  if (error instanceof RelayError) return { code: error.code, message: error.message };
  if (error instanceof UnprovenHost) return { code: "unproven_host", message: error.message };
  throw error;
}
