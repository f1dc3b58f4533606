/** A phone that counts the key frames it sent. */
import type { KeyInput } from "../../../src/protocol/key_input.ts";
import { MirrorPhone } from "../../helpers/mirror_phone.ts";

export class AttackPhone extends MirrorPhone {
  /** The number of inputs sent, which is also the next sequence number. */
  typed = 0;

  override type(...inputs: KeyInput[]): void {
    for (const input of inputs) {
      super.type(input);
      this.typed++;
    }
  }
}
