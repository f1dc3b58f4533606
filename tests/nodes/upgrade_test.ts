/** Three relay nodes are upgraded one by one under load: old and new ones together lose, duplicate and reorder nothing. */
import { CHECKOUT } from "../helpers/sources.ts";
import { makeNodeStage } from "../helpers/node_stage.ts";
import { FROM_CHECKOUT, type Launch, SVC } from "../helpers/program.ts";
import { checkAll, progress, report } from "./progress.ts";

/** The commit that the nodes are upgraded from. */
const BEFORE = Deno.env.get("SVC_TEST_BEFORE") ?? "HEAD~1";

async function run(program: string, ...args: string[]): Promise<void> {
  const { success, stderr } = await new Deno.Command(program, { args, cwd: CHECKOUT }).output();
  if (!success) throw new Error(`${program} ${args.join(" ")}: ${new TextDecoder().decode(stderr)}`);
}

/** Checks out the previous version, with this version's packages. */
async function checkOut(directory: string): Promise<Launch> {
  const archive = `${directory}.tar`;
  await Deno.mkdir(directory);
  await run("git", "archive", "--output", archive, BEFORE);
  await run("tar", "-xf", archive, "-C", directory);
  await Deno.symlink(`${CHECKOUT}node_modules`, `${directory}/node_modules`);
  return FROM_CHECKOUT.with(-1, `${directory}/cli.ts`).with(-2, `${directory}/deno.json`);
}

Deno.test("nodes: an upgrade node by node under load, to this version and back, loses, duplicates and reorders nothing [nodes-upgrade]", async () => {
  const root = await Deno.makeTempDir({ prefix: "svc-before-" });
  try {
    const old = await checkOut(`${root}/svc`);
    await using stage = await makeNodeStage({ sessions: 6, launch: old });
    await progress(stage);
    report(stage, `calm, ${BEFORE}`);
    for (const [launch, what] of [[SVC, "upgraded"], [old, "taken back"]] as const) {
      for (const [n, relay] of stage.relays.entries()) {
        relay.started().kill("SIGTERM");
        await relay.restart(launch);
        await progress(stage);
        report(stage, `relay ${n} ${what}`);
      }
    }
    await checkAll(stage);
  } finally {
    await Deno.remove(root, { recursive: true });
  }
});
