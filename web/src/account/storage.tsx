import { useQuery } from '@tanstack/react-query'
import { ProgressBar } from '../ui/feedback/progress-bar.tsx'
import { List, ListItem } from '../ui/lists/list.tsx'
import { Notice } from '../ui/feedback/notice.tsx'
import { Muted } from '../ui/layout/page.tsx'
import { sizeText } from '../ui/text/format.ts'
import { Loading } from '../ui/feedback/loading.tsx'
import { usageQuery, type QuotaUsage } from './api.ts'
import { storage as messages } from './messages.ts'

const WARNING_SHARE = 0.8

/** Storage used by the account, its quotas, and the effect of a full quota. */
export function Storage() {
  const { data, error } = useQuery(usageQuery)
  if (error) return <Notice tone="bad">{error.message}</Notice>
  if (!data)
    return (
      <Loading lines={3} shape="list">
        {messages.loading}
      </Loading>
    )
  return (
    <List>
      {data.quotas.map((quota) => (
        <ListItem key={quota.name} title={messages.names[quota.name]}>
          {usedText(quota)}
          <ProgressBar
            label={messages.progress(messages.names[quota.name])}
            done={quota.used}
            total={quota.limit}
            {...(quota.used >= quota.limit * WARNING_SHARE && { tone: 'warn' })}
          />
          <Muted>{messages.whenFull(quota.beyond)}</Muted>
        </ListItem>
      ))}
    </List>
  )
}

/** One line with the storage used, for the screen of what is stored. */
export function StorageLine({ name, children }: { name: QuotaUsage['name']; children: string }) {
  const { data } = useQuery(usageQuery)
  const quota = data?.quotas.find((one) => one.name === name)
  if (!quota) return null
  return (
    <Muted>
      {messages.line(usedText(quota))} {children}
    </Muted>
  )
}

function usedText({ used, limit }: QuotaUsage): string {
  return messages.used(sizeText(used), sizeText(limit))
}
