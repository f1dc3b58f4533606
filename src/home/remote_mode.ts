/** Which conversations are in REMOTE mode: one small file each, so that it holds from one prompt to the next. */
import type { Files } from "../runtime/types.ts";
import { sha256Hex } from "../async/sha256.ts";

/**
 * `on`: the model was told that the user drives from the phone. `untold`: that is over, and the model does not know it
 * yet. `off`: neither.
 */
export type RemoteState = "off" | "on" | "untold";

export interface RemoteHome {
  files: Files;
  /** The directory of the files. */
  remote: string;
}

/** A conversation, as its agent names it. */
export interface Conversation {
  agent: string;
  id: string;
}

/** Agents keep conversations for weeks; the oldest states go when there are more than these. */
export const CONVERSATIONS_MAX = 200;

export async function readRemote(home: RemoteHome, conversation: Conversation): Promise<RemoteState> {
  const path = `${home.remote}/${await remoteName(conversation)}`;
  const word = (await home.files.readText(path))?.trim();
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
 * The name of its file, which is there unless the state is `off`. Agents name conversations by UUIDs and the like; any
 * other name is hashed, so that it names no other path.
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
