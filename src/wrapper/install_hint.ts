/** How tmux is installed on this system. */

/** Package managers, each by the program that shows it. */
const INSTALLERS: readonly [program: string, command: string][] = [
  ["apt-get", "sudo apt-get install -y tmux"],
  ["dnf", "sudo dnf install -y tmux"],
  ["pacman", "sudo pacman -S tmux"],
  ["apk", "sudo apk add tmux"],
  ["zypper", "sudo zypper install tmux"],
  ["brew", "brew install tmux"],
];

/** The command of the first package manager that `which` finds, else where to read about it. */
export async function tmuxInstallHint(
  which: (program: string) => Promise<string | undefined>,
): Promise<string> {
  for (const [program, command] of INSTALLERS) {
    if (await which(program) !== undefined) return command;
  }
  return "the steps at https://github.com/tmux/tmux/wiki/Installing";
}
