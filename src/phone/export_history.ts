/** Exports what was sent and received. */
import type { RelayApi } from "../client/api.ts";
import { PAGE_LIMIT_MAX } from "../protocol/limits.ts";
import type { Sealing } from "./sealing.ts";

/** Every push that the relay keeps, oldest first, a line of JSON each; throws RelayError. */
export async function exportHistory(
  { api, sealing }: { api: RelayApi; sealing: Sealing },
  onProgress: (pushes: number) => void,
): Promise<Blob> {
  const lines: string[] = [];
  for (let after: string | undefined, isLast = false; !isLast;) {
    const { pushes, next } = await api.listPushes({ limit: PAGE_LIMIT_MAX, ...(after ? { after } : {}) });
    const records = await sealing.openRecords(pushes);
    lines.push(...records.map((record) => `${JSON.stringify(record)}\n`));
    onProgress(lines.length);
    after = next;
    isLast = next === undefined || pushes.length === 0;
  }
  return new Blob(lines, { type: "application/jsonl" });
}
