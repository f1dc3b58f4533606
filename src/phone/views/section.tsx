/** A part of the settings under its heading. */
import type { ComponentChildren, JSX } from "preact";

export function Section(
  { name, heading, hint, children }: {
    name: string;
    heading: string;
    hint?: string;
    children: ComponentChildren;
  },
): JSX.Element {
  return (
    <section class="group" aria-labelledby={`settings-${name}`}>
      <h2 id={`settings-${name}`}>{heading}</h2>
      {hint !== undefined && <p class="hint">{hint}</p>}
      {children}
    </section>
  );
}
