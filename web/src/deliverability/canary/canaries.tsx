import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { Button } from '../../ui/actions/button.tsx'
import { ConfirmButton } from '../../ui/actions/confirm.tsx'
import { LoadingOrError } from '../../ui/feedback/loading.tsx'
import { Notice } from '../../ui/feedback/notice.tsx'
import { Disclosure } from '../../ui/layout/disclosure.tsx'
import { Card, Muted, Row, Section, Stack } from '../../ui/layout/page.tsx'
import { ExactTime } from '../../ui/text/date-text.tsx'
import { useAccess } from '../../workspaces/roles.ts'
import { canaries, canariesQuery, type Canary } from './api.ts'
import { CanaryDays } from './canary-days.tsx'
import { canary as messages } from './messages.ts'
import { NewCanaryForm } from './new-canary-form.tsx'
import { NewSeedForm } from './new-seed-form.tsx'
import { SeedTable } from './seed-table.tsx'

/** The canaries of a domain: where its mails arrive in mailboxes of the person. */
export function Canaries({ domain }: { domain: string }) {
  const { data, error } = useQuery(canariesQuery(domain))
  return (
    <Section title={messages.title}>
      <p>
        <Muted>{messages.lead}</Muted>
      </p>
      <LoadingOrError there={data} error={error} lines={3}>
        {messages.loading}
      </LoadingOrError>
      {data?.map((canary) => (
        <CanaryCard key={canary.id} canary={canary} />
      ))}
      {data && (
        <Disclosure summary={messages.create}>
          {() => (
            <Card>
              <NewCanaryForm domain={domain} />
            </Card>
          )}
        </Disclosure>
      )}
    </Section>
  )
}

function CanaryCard({ canary }: { canary: Canary }) {
  const { id, sender, host, everyHours, enabled, nextRunAt, problem, seeds } = canary
  return (
    <Card>
      <Stack>
        <h3>{sender}</h3>
        <p>
          {messages.via(host, everyHours)}{' '}
          {enabled && nextRunAt !== null ? (
            <>
              {messages.next} <ExactTime at={nextRunAt} />.
            </>
          ) : (
            messages.off
          )}
        </p>
        {problem !== null && <Notice tone="bad">{problem}</Notice>}
        {seeds.length === 0 ? <p>{messages.noSeeds}</p> : <SeedTable canaryId={id} seeds={seeds} />}
        <Disclosure summary={messages.addSeed}>{() => <NewSeedForm canaryId={id} />}</Disclosure>
        <Disclosure summary={messages.days}>{() => <CanaryDays id={id} />}</Disclosure>
        <Actions canary={canary} />
      </Stack>
    </Card>
  )
}

function Actions({ canary: { id, sender, enabled, seeds } }: { canary: Canary }) {
  const access = useAccess()
  const queries = useQueryClient()
  const [problem, setProblem] = useState('')

  async function act(work: () => Promise<unknown>): Promise<void> {
    setProblem('')
    try {
      await work()
      await queries.invalidateQueries({ queryKey: ['canaries'] })
    } catch (error) {
      setProblem((error as Error).message)
    }
  }

  return (
    <>
      <Row>
        {seeds.length > 0 && (
          <Button {...access} size="small" onClick={() => void act(() => canaries.run(id))}>
            {messages.run}
          </Button>
        )}
        <Button
          {...access}
          size="small"
          kind="quiet"
          onClick={() => void act(() => canaries.enable(id, !enabled))}
        >
          {enabled ? messages.turnOff : messages.turnOn}
        </Button>
        <ConfirmButton
          {...access}
          label={messages.remove}
          about={sender}
          title={messages.removing(sender)}
          onConfirm={async () => {
            await canaries.remove(id)
            await queries.invalidateQueries({ queryKey: ['canaries'] })
          }}
        >
          <p>{messages.removingText}</p>
        </ConfirmButton>
      </Row>
      <div role="alert">{problem && <Notice tone="bad">{problem}</Notice>}</div>
    </>
  )
}
