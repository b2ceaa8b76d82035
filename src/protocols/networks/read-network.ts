import ipaddr from 'ipaddr.js'
import { invalidField, type Fault } from '../../errors.ts'
import { trimInvisible } from '../../net/address.ts'
import { cidr, type Cidr } from '../../setting-values.ts'

/** Bits of the widest network, which is wider than any operator’s. */
const WIDEST = { 4: 8, 6: 16 }

/**
 * Parses `192.0.2.0/24`, or an address for itself alone; bits behind the prefix are cleared. Mapped
 * addresses (`::ffff:192.0.2.0/120`) are those of IPv4, as which they are looked up.
 * @throws Fault `invalid_request`, also for a network that is too wide
 */
export function readNetwork(text: string): string {
  const [network, bits] = parse(text)
  const widest = WIDEST[network.kind() === 'ipv4' ? 4 : 6]
  if (bits < widest) throw refusal(text, `is wider than /${widest}`)
  return networkOf(network, bits)
}

function parse(text: string): Cidr {
  try {
    return cidr(trimInvisible(text))
  } catch {
    throw refusal(text, 'is not a network such as 192.0.2.0/24 or 2001:db8::/32')
  }
}

/** The network around an address, as `address/bits`. */
export function networkOf(address: ipaddr.IPv4 | ipaddr.IPv6, bits: number): string {
  const bytes = address
    .toByteArray()
    .map((byte, index) => byte & (0xff00 >> Math.min(8, Math.max(0, bits - index * 8))))
  return `${ipaddr.fromByteArray(bytes).toString()}/${bits}`
}

function refusal(text: string, message: string): Fault {
  return invalidField('cidr', message, `“${text}”`)
}
