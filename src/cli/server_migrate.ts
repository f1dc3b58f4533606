/** `svc server migrate`: copies all that a relay keeps from SQLite to NATS, or back. */
import { copyStore, hasStore, natsAddress, openRelayStore } from "../store/open.ts";
import { openStore } from "../store/sqlite.ts";
import type { Store } from "../store/store.ts";
import { defineCommand, parseOptions } from "./command.ts";
import { UsageError } from "./exit.ts";
import { type NatsOptions, natsSettings } from "./nats_settings.ts";
import { print } from "./output.ts";
import { dataDirectory } from "./settings.ts";

interface MigrateOptions extends NatsOptions {
  to: string;
  data?: string | undefined;
}

interface Target {
  open(): Promise<Store>;
  /** Starts a relay on it. */
  start: string;
}

export async function migrate(args: readonly string[]): Promise<number> {
  const command = defineCommand({
    name: "server migrate",
    summary: "Copy all that the relay keeps to NATS, or from NATS into a folder, even while the relay is " +
      "running. Each further run copies what has changed. Finally stop the relay, run this once more, and start the " +
      "relay there.",
    examples: [
      "svc server migrate --to nats://a,nats://b,nats://c",
      "svc server migrate --data /srv/relay --to sqlite:/srv/relay-copy",
    ],
  })
    .requiredOption("--to <place>", "nats://a,nats://b,nats://c, or sqlite:FOLDER for SQLite in that folder")
    .option("--data <dir>", "the folder of the relay that is copied (default: server in ~/.svc)")
    .option("--nats-creds <file>", "credentials for the NATS that is written")
    .option("--nats-ca <file>", "certificate (PEM) of the authority of its certificates")
    .option("--nats-prefix <name>", "begins the names of its subjects and streams (default: svc)");
  const options: MigrateOptions = parseOptions(command, args).opts();
  const target = targetOf(options);
  const data = await dataDirectory(options);
  if (!await hasStore(data)) {
    throw new Error(`Cannot copy: no relay has its data in "${data}". Name its folder with --data.`);
  }
  const from = await openRelayStore(data);
  try {
    await copy(from, target);
  } finally {
    await from.close();
  }
  return 0;
}

async function copy(from: Store, target: Target): Promise<void> {
  const to = await target.open();
  try {
    const { accounts, keys, devices, pushes, added, changed } = await copyStore({ from, to }, Date.now());
    print(
      `Copied everything. Accounts: ${accounts}; keys: ${keys}; devices: ${devices}; messages: ${pushes}, ` +
        `of which ${added} are new and ${changed} have changed.`,
    );
  } finally {
    await to.close();
  }
  const next = `run this once more, then start the relay there: ${target.start}`;
  print(
    await from.isInUse()
      ? `The relay is still running. Stop it, ${next}`
      : `The relay is not running: nothing is missing. Start it there: ${target.start}`,
  );
}

/** Where `--to` leads. */
function targetOf({ to, ...nats }: MigrateOptions): Target {
  const folder = /^sqlite:(.+)$/.exec(to)?.[1];
  if (folder !== undefined) {
    if (nats.natsCreds !== undefined || nats.natsCa !== undefined || nats.natsPrefix !== undefined) {
      throw new UsageError("--nats-creds, --nats-ca and --nats-prefix go with --to nats://…");
    }
    return { open: () => openStore(folder, { only: "copy" }), start: `svc server --data ${folder}` };
  }
  if (!/^(nats|tls):/.test(to)) {
    throw new UsageError(
      `Cannot copy to "${to}": give nats://a,nats://b,nats://c, or sqlite:FOLDER for SQLite in that folder.`,
    );
  }
  const settings = natsSettings(to, nats);
  return {
    async open() {
      const { openNatsStore } = await import("../store/nats.ts");
      return await openNatsStore(await natsAddress(settings));
    },
    start: `svc server --nats ${to}`,
  };
}
