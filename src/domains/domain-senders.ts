import ipaddr from 'ipaddr.js'
import { canonical } from '../net/address.ts'
import type { SenderNetwork, Senders } from '../protocols/spf/spf-senders.ts'

/** The networks that are one address. */
export function singleAddresses({ networks }: Senders): string[] {
  return networks
    .filter(({ family, prefix }) => prefix === (family === 4 ? 32 : 128))
    .map(({ address }) => address)
}

/** Every address of a network; for small ones only. */
export function addressesOfNetwork({ address, family, prefix }: SenderNetwork): string[] {
  const width = family === 4 ? 32 : 128
  const bytes = ipaddr.parse(address).toByteArray()
  const count = 2 ** (width - prefix)
  // Networks of up to 256 addresses differ in their last byte only.
  const last = bytes.length - 1
  const first = (bytes[last] ?? 0) & ~(count - 1)
  return Array.from({ length: count }, (_, index) =>
    canonical(ipaddr.fromByteArray(bytes.with(last, first + index)).toString()),
  )
}

export function formatNetwork({ address, family, prefix }: SenderNetwork): string {
  return prefix === (family === 4 ? 32 : 128) ? address : `${address}/${prefix}`
}
