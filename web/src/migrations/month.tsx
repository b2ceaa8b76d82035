import { useQuery } from '@tanstack/react-query'
import { accountQuery } from '../queries.ts'
import { Notice } from '../ui/feedback/notice.tsx'
import { Muted } from '../ui/layout/page.tsx'
import type { MigrationList } from './api.ts'
import { month as messages } from './messages.ts'

type Month = Pick<MigrationList, 'month'>

/** Migrations used this month, and the limit of the plan; nothing where there is none. */
export function MonthNote({ month: { used, limit } }: Month) {
  const { data: account } = useQuery(accountQuery)
  const plan = account ? messages.plan(account.plan) : ''
  if (limit === null) return null
  return <Muted>{messages.used(used, limit) + plan + messages.dryRuns}</Muted>
}

/** Shown before the user enters a password in vain. */
export function MonthSpent({ month: { used, limit } }: Month) {
  if (limit === null || used < limit) return null
  return (
    <Notice tone="warn" title={messages.spent}>
      <p>{messages.spentText}</p>
    </Notice>
  )
}
