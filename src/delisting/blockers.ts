import { isGenericName, type ReverseDns } from '../protocols/networks/reverse-dns.ts'
import type { Answer, RemovalPlan } from './steps/plan-steps.ts'

/**
 * Lists about reverse DNS or dynamic ranges require a name that is not generated from the address.
 */
const REVERSE_DNS_POLICY = /\b(?:dynamic|dyna?|generic|no-?ptr|reverse dns|r-?dns|ptr)\b/i

type ListedAddress = { ip: string; name: string; plan: RemovalPlan; answer: Answer }

/**
 * Finds the problems that the owner must fix before the request: otherwise the blocklist would
 * reject it, or list the address again.
 * @param reverse with any status but `unknown`
 * @returns sentences with the problem and the fix
 */
export function findBlockers(
  { ip, name, plan, answer }: ListedAddress,
  reverse: ReverseDns,
): string[] {
  const [first = ''] = reverse.names
  if (reverse.status === 'missing') {
    return [
      `${ip} has no reverse DNS. Ask your provider to set a PTR record with the name of your mail server.`,
    ]
  }
  if (reverse.status === 'unconfirmed') {
    return [
      `The reverse DNS of ${ip} is ${first}, which does not resolve back. Add an address record for ${ip} to ${first}.`,
    ]
  }
  const said = [name, plan.notes, answer.reason, ...answer.meanings].join(' ')
  if (REVERSE_DNS_POLICY.test(said) && isGenericName(first, ip)) {
    return [
      `The reverse DNS of ${ip} is ${first}, a name generated from the address. Ask your provider to set the name of your mail server.`,
    ]
  }
  return []
}
