import { useQuery } from '@tanstack/react-query'
import { accountQuery } from '../queries.ts'
import { Notice } from '../ui/feedback/notice.tsx'
import { Muted } from '../ui/layout/page.tsx'
import { counted, numberText } from '../ui/text/format.ts'
import type { MigrationList } from './api.ts'

type Month = Pick<MigrationList, 'month'>

/** What the plan leaves for this month. */
export function MonthNote({ month: { used, limit } }: Month) {
  const { data: account } = useQuery(accountQuery)
  const plan = account ? ` on the plan “${account.plan}”` : ''
  const words =
    limit === null
      ? `${counted(used, 'migration')}, without a limit`
      : `${numberText(used)} of ${counted(limit, 'migration')}`
  return <Muted>{`This month: ${words}${plan}. Dry runs do not count.`}</Muted>
}

/** Said before anybody types a password for nothing. */
export function MonthSpent({ month: { used, limit } }: Month) {
  if (limit === null || used < limit) return null
  return (
    <Notice tone="warn" title="This month’s migrations are used up">
      <p>The next can be started in the next month (UTC), or when an administrator changes the plan.</p>
    </Notice>
  )
}
