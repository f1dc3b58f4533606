/** Who acts on a sealed answer: the program that asked, or the listener that types it late. Never both, whatever a relay says. */
import type { Files } from "../runtime/types.ts";
import type { HomePaths } from "./paths.ts";

export type AnswerTaker = "asker" | "listener";

/** Longer than any sealed answer lives. */
const CLAIM_KEPT_MS = 8 * 24 * 3_600_000;

/** False when the other one has it already. The same one may claim it again: its own records say what it did. */
export async function claimAnswer(
  files: Files,
  { answers }: Pick<HomePaths, "answers">,
  { id, by, now }: { id: string; by: AnswerTaker; now: number },
): Promise<boolean> {
  await files.makeDirectory(answers, { mode: 0o700 });
  await forgetOld(files, answers, now);
  const path = `${answers}/${id}`;
  if (await files.createText(path, by, { mode: 0o600 })) return true;
  return await files.readText(path) === by;
}

async function forgetOld(files: Files, folder: string, now: number): Promise<void> {
  for (const name of await files.list(folder)) {
    const info = await files.info(`${folder}/${name}`);
    if (info !== undefined && info.mtimeMs < now - CLAIM_KEPT_MS) await files.remove(`${folder}/${name}`);
  }
}
