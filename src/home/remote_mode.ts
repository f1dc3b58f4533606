/** Which conversations are in REMOTE mode: a small file for each, because every prompt runs a new hook process. */
import type { Files } from "../runtime/types.ts";
import { sha256Hex } from "../async/encodings.ts";
import { readStateText } from "./damage.ts";

/**
 * `on`: the model was informed that the user drives from the phone. `untold`: that has ended, and the model was not
 * informed of it yet. `off`: neither.
 */
export type RemoteState = "off" | "on" | "untold";

export interface RemoteHome {
  files: Files;
  /** The directory of the files. */
  remote: string;
}

/** A conversation, with the id that its agent gives it. */
export interface Conversation {
  agent: string;
  id: string;
}

/** Agents keep conversations for weeks; beyond this many, the oldest states are removed. */
export const CONVERSATIONS_MAX = 200;

export async function readRemote(home: RemoteHome, conversation: Conversation): Promise<RemoteState> {
  const path = `${home.remote}/${await remoteName(conversation)}`;
  const word = (await readStateText(home.files, path))?.trim();
  return word === "on" || word === "untold" ? word : "off";
}

export async function writeRemote(
  home: RemoteHome,
  conversation: Conversation,
  state: RemoteState,
): Promise<void> {
  const path = `${home.remote}/${await remoteName(conversation)}`;
  if (state === "off") return void await home.files.remove(path);
  await home.files.makeDirectory(home.remote, { mode: 0o700 });
  await sweep(home);
  await home.files.writeText(path, `${state}\n`, { mode: 0o600 });
}

/**
 * The name of the conversation's file, which exists unless the state is `off`. The ids are usually UUIDs; any other id is
 * hashed, so that it cannot name another path.
 */
export async function remoteName({ agent, id }: Conversation): Promise<string> {
  const isPlain = /^[\w-]{1,100}$/.test(id);
  return `${agent}.${isPlain ? id : await sha256Hex(id)}`;
}

async function sweep({ files, remote }: RemoteHome): Promise<void> {
  const names = await files.list(remote);
  if (names.length < CONVERSATIONS_MAX) return;
  const aged = await Promise.all(names.map(async (name) => {
    const path = `${remote}/${name}`;
    return { path, at: (await files.info(path))?.mtimeMs ?? 0 };
  }));
  const surplus = aged.sort((one, other) => one.at - other.at).slice(0, aged.length + 1 - CONVERSATIONS_MAX);
  await Promise.all(surplus.map(({ path }) => files.remove(path)));
}
