/** Requests that the stand-in's model makes so that a phone gets a card. */
import type { SvcAgent } from "./run_agent.ts";

/**
 * Makes the model ask for permission to create these files. Gemini has no hook for that, so it asks a question about
 * the first.
 */
export function callForCard({ kind, standIn }: SvcAgent, ...names: string[]): string {
  if (kind !== "gemini") {
    standIn.callShell(...names.map((name) => `touch ${name}`));
    return `touch ${names[0]}`;
  }
  const question = `Which color for ${names[0]}?`;
  const options = ["Red", "Blue"].map((label) => ({ label, description: label }));
  standIn.callTool("ask_user", { questions: [{ question, header: "Color", type: "choice", options }] });
  return question;
}
