import { useQuery } from '@tanstack/react-query'
import { Bar } from '../ui/feedback/progress-bar.tsx'
import { List, ListItem } from '../ui/lists/list.tsx'
import { Notice } from '../ui/feedback/notice.tsx'
import { Soft } from '../ui/layout/page.tsx'
import { sizeText } from '../ui/text/format.ts'
import { Waiting } from '../ui/feedback/loading.tsx'
import { usageQuery, type QuotaUsage } from './api.ts'

const NAMES: Record<QuotaUsage['name'], string> = {
  captures: 'Captured webhooks',
  reportFiles: 'Report files',
  sharedChecks: 'Shared checks',
}

const WARNING_SHARE = 0.8

/** What the account stores, how much it may store, and what happens beyond. */
export function Storage() {
  const { data, error } = useQuery(usageQuery)
  if (error) return <Notice tone="bad">{error.message}</Notice>
  if (!data) return <Waiting lines={3}>Fetching your storage …</Waiting>
  return (
    <List>
      {data.quotas.map((quota) => (
        <ListItem key={quota.name} title={NAMES[quota.name]}>
          {usedText(quota)}
          <Bar
            label={`${NAMES[quota.name]}: storage used`}
            done={quota.used}
            total={quota.limit}
            {...(quota.used >= quota.limit * WARNING_SHARE && { tone: 'warn' })}
          />
          <Soft>When full: {quota.beyond}</Soft>
        </ListItem>
      ))}
    </List>
  )
}

/** One line for the screen of what is stored. */
export function StorageLine({ name, children }: { name: QuotaUsage['name']; children: string }) {
  const { data } = useQuery(usageQuery)
  const quota = data?.quotas.find((one) => one.name === name)
  if (!quota) return null
  return (
    <Soft>
      Storage: {usedText(quota)}; {children}
    </Soft>
  )
}

function usedText({ used, limit }: QuotaUsage): string {
  return `${sizeText(used)} of ${sizeText(limit)}`
}
