import { useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { accountQuery } from '../queries.ts'
import type { CheckTarget } from './guess-target.ts'
import { targetText } from './guess-target.ts'
import { rememberCheck } from './recent-checks.ts'

/** Opens the page about a target: that of an address, a domain, or a service at a port. */
export function useOpenTarget(): (target: CheckTarget) => void {
  const navigate = useNavigate()
  const { data: account } = useQuery(accountQuery)
  return (target) => {
    if (account) rememberCheck(account.id, targetText(target))
    if (target.port !== undefined)
      void navigate({ to: '/check', search: { q: targetText(target) } })
    else if (target.kind === 'address')
      void navigate({ to: '/addresses/$ip', params: { ip: target.name } })
    else void navigate({ to: '/domains/$domain', params: { domain: target.name } })
  }
}
