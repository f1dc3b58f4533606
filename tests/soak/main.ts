/** `deno task test:soak`: half an hour of use, or SVC_SOAK_MINUTES; prints memory, leftovers and the messages' outcomes, and exits with 1 for a fault. */
import { say } from "../../scripts/say.ts";
import { reportOf } from "./report.ts";
import { soak } from "./soak.ts";

const MINUTES_DEFAULT = 30;

const minutes = Number(Deno.env.get("SVC_SOAK_MINUTES") ?? MINUTES_DEFAULT);
if (!(minutes > 0)) {
  say(
    `Cannot use SVC_SOAK_MINUTES=${
      Deno.env.get("SVC_SOAK_MINUTES")
    }: it is a number of minutes, such as 1440.`,
  );
  Deno.exit(2);
}
const { lines, faults } = reportOf(await soak({ minutes }));
for (const line of lines) say(line);
for (const fault of faults) say(`✗ ${fault}`);
Deno.exit(faults.length === 0 ? 0 : 1);
