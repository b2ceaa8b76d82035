import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { listsQuery, monitoring, type MonitoredList, type ListMode } from '../monitoring/api.ts'
import { ModeTable } from '../monitoring/mode-table.tsx'
import { hosts, modes as messages } from '../monitoring/messages.ts'
import { BackLink } from '../ui/navigation/back-link.tsx'
import { Notice } from '../ui/feedback/notice.tsx'
import { Page } from '../ui/layout/page.tsx'
import { LoadingOrError } from '../ui/feedback/loading.tsx'

export function Screen() {
  const { data: lists, error } = useQuery(listsQuery)
  return (
    <Page
      wide
      title={messages.title}
      above={<BackLink to="/monitoring">{hosts.title}</BackLink>}
      lead={messages.lead}
    >
      <LoadingOrError there={lists} error={error} lines={6} shape="table">
        {messages.loading}
      </LoadingOrError>
      {lists && <Modes lists={lists} />}
    </Page>
  )
}

function Modes({ lists }: { lists: MonitoredList[] }) {
  const queries = useQueryClient()
  const [problem, setProblem] = useState('')
  const { queryKey } = listsQuery

  const put = (changed: MonitoredList) =>
    queries.setQueryData(queryKey, (before) =>
      before?.map((list) => (list.dnsbl === changed.dnsbl ? changed : list)),
    )

  async function choose(list: MonitoredList, mode: ListMode | undefined): Promise<void> {
    put({ ...list, mode: mode ?? list.mode, isDefault: mode === undefined })
    setProblem('')
    try {
      put(await monitoring.choose(list.dnsbl, mode ?? 'default'))
    } catch (error) {
      put(list)
      setProblem((error as Error).message)
    }
  }

  return (
    <>
      <div role="alert">{problem && <Notice tone="bad">{problem}</Notice>}</div>
      <ModeTable
        caption={messages.title}
        lists={lists}
        chosen={({ mode, isDefault }) => (isDefault ? undefined : mode)}
        otherwise={({ mode, isDefault }) => messages.defaultMode(isDefault ? mode : null)}
        onChoose={(list, mode) => void choose(list, mode)}
      />
    </>
  )
}
