/** A box to tick, as large as its row. */
import type { JSX } from "preact";
import { Icon } from "./icons.tsx";

interface Props {
  label: string;
  checked: boolean;
  onToggle(): void;
}

export function Tick({ label, checked, onToggle }: Props): JSX.Element {
  return (
    <label class="tick">
      <input type="checkbox" checked={checked} onChange={onToggle} />
      <Icon name="tick" />
      <span>{label}</span>
    </label>
  );
}
