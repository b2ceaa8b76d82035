import { useQuery } from '@tanstack/react-query'
import { Button } from '../ui/actions/button.tsx'
import { Notice } from '../ui/feedback/notice.tsx'
import { Card, Section } from '../ui/layout/page.tsx'
import { Loading } from '../ui/feedback/loading.tsx'
import { checkQuery } from './api.ts'
import type { CheckKind } from './kinds/check-kind.ts'
import { check as messages } from './messages.ts'
import { CheckResult } from './check-result.tsx'

/** One check, which runs as soon as the panel is shown. */
export function CheckPanel({ kind, target }: { kind: CheckKind; target: string }) {
  const { data: answer, error, isFetching, refetch } = useQuery(checkQuery(kind, target))
  const again = (
    <Button size="small" kind="quiet" busy={isFetching} onClick={() => void refetch()}>
      {messages.checkAgain}
    </Button>
  )
  return (
    <Section title={kind.title} aside={again}>
      <Card>
        {isFetching && !answer && (
          <Loading lines={3} slow>
            {messages.checking}
          </Loading>
        )}
        {error && !isFetching && <Notice tone="unknown">{error.message}</Notice>}
        {answer && !error && <CheckResult kind={kind} answer={answer} path={kind.path(target)} />}
      </Card>
    </Section>
  )
}
