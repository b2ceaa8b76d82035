import { useQuery } from '@tanstack/react-query'
import { ProgressBar } from '../ui/feedback/progress-bar.tsx'
import { List, ListItem } from '../ui/lists/list.tsx'
import { Notice } from '../ui/feedback/notice.tsx'
import { Muted } from '../ui/layout/page.tsx'
import { sizeText } from '../ui/text/format.ts'
import { Loading } from '../ui/feedback/loading.tsx'
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
  if (!data) return <Loading lines={3}>Fetching your storage …</Loading>
  return (
    <List>
      {data.quotas.map((quota) => (
        <ListItem key={quota.name} title={NAMES[quota.name]}>
          {usedText(quota)}
          <ProgressBar
            label={`${NAMES[quota.name]}: storage used`}
            done={quota.used}
            total={quota.limit}
            {...(quota.used >= quota.limit * WARNING_SHARE && { tone: 'warn' })}
          />
          <Muted>When full: {quota.beyond}</Muted>
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
    <Muted>
      Storage: {usedText(quota)}; {children}
    </Muted>
  )
}

function usedText({ used, limit }: QuotaUsage): string {
  return `${sizeText(used)} of ${sizeText(limit)}`
}
