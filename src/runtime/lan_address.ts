/** Chooses the address at which other devices on the local network reach this machine. */

export interface InterfaceAddress {
  /** The interface's, such as `eth0`. */
  name: string;
  family: string;
  address: string;
}

/** Bridges of containers and virtual machines, which a phone cannot reach. */
const VIRTUAL = /^(docker|br-|veth|virbr|podman|cni)/;

/** The first IPv4 address that is not loopback and not on a virtual interface. */
export function lanAddressAmong(addresses: readonly InterfaceAddress[]): string | undefined {
  return addresses.find(({ name, family, address }) =>
    family === "IPv4" && !address.startsWith("127.") && !VIRTUAL.test(name)
  )?.address;
}
