import { isGenericName, type ReverseDns } from '../protocols/reverse-dns.ts'
import type { Answer, Plan } from './steps/plan.ts'

/** Lists that name the reverse DNS, or dynamic ranges, want a name that somebody chose. */
const REVERSE_DNS_POLICY = /\b(?:dynamic|dyna?|generic|no-?ptr|reverse dns|r-?dns|ptr)\b/i

type ListedAddress = { ip: string; name: string; plan: Plan; answer: Answer }

/**
 * What the owner must mend before a list is worth asking: it would refuse, or list the address again.
 * @param reverse anything but `unknown`
 * @returns sentences with what to do
 */
export function findBlockers({ ip, name, plan, answer }: ListedAddress, reverse: ReverseDns): string[] {
  const [first = ''] = reverse.names
  if (reverse.status === 'missing') {
    return [`${ip} has no reverse DNS. Have your provider set a PTR record with the name of your mail server.`]
  }
  if (reverse.status === 'unconfirmed') {
    return [
      `The reverse DNS of ${ip} is ${first}, which does not lead back. Give ${first} an address record for ${ip}.`,
    ]
  }
  const said = [name, plan.notes, answer.reason, ...answer.meanings].join(' ')
  if (REVERSE_DNS_POLICY.test(said) && isGenericName(first, ip)) {
    return [
      `The reverse DNS of ${ip} is ${first}, a name made from the address. Have your provider set the name of your mail server.`,
    ]
  }
  return []
}
