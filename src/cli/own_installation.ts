/** How the svc that runs this process was installed. */
import { runtime } from "#runtime";
import { type Installation, installationOf } from "./installation.ts";

export async function ownInstallation(): Promise<Installation> {
  const command = runtime.selfCommand();
  const program = command.at(-1) ?? "";
  return installationOf(command, await runtime.files.realPath(program) ?? program);
}
