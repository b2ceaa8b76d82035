import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { deleteWithUndo } from '../../deletions.ts'
import { Button } from '../../ui/actions/button.tsx'
import { ConfirmButton } from '../../ui/actions/confirm.tsx'
import { Notice } from '../../ui/feedback/notice.tsx'
import { Status, type Tone } from '../../ui/feedback/status.tsx'
import { Row, Stack } from '../../ui/layout/page.tsx'
import { TitledCard } from '../../ui/layout/titled-card.tsx'
import { Facts } from '../../ui/lists/facts.tsx'
import { Ago } from '../../ui/text/ago.tsx'
import { ExactTime } from '../../ui/text/date-text.tsx'
import { VisuallyHidden } from '../../ui/text/visually-hidden.tsx'
import { useAccess } from '../../workspaces/roles.ts'
import { destinationsOf, destinationsQuery, type Destination, type TestResult } from '../api.ts'
import { destinations as messages } from '../messages.ts'
import { DestinationForm } from './destination-form.tsx'
import { destinationName } from './destination-values.ts'

type DestinationCardProps = {
  endpointId: string
  destination: Destination
  /** Called with a new signing secret. */
  onSecret: (secret: string | null) => void
}

export function DestinationCard({ endpointId, destination, onSecret }: DestinationCardProps) {
  const [isChanging, setChanging] = useState(false)
  const { url, reason, accepting, when, waiting, held, publicKey } = destination
  const isFiltered = Object.keys(when).length > 0
  return (
    <TitledCard title={destinationName(destination)} aside={<DestinationStatus {...destination} />}>
      <Stack>
        <code>{url}</code>
        {reason && <Notice tone="bad">{reason}</Notice>}
        {!accepting && <Notice tone="bad">{messages.full}</Notice>}
        <Facts
          facts={[
            [messages.conditions, isFiltered ? JSON.stringify(when) : ''],
            [messages.publicKey, publicKey ?? ''],
            [
              messages.nextAttempt,
              destination.nextAttemptAt && <ExactTime at={destination.nextAttemptAt} />,
            ],
            [
              messages.lastSuccess,
              destination.lastSuccessAt && <Ago at={destination.lastSuccessAt} />,
            ],
            [
              messages.oldestWaiting,
              destination.oldestWaitingAt && <Ago at={destination.oldestWaitingAt} />,
            ],
            [
              messages.successRate,
              destination.successRate === null ? '' : messages.percent(destination.successRate),
            ],
            [messages.lastError, destination.lastError ?? ''],
          ]}
        />
        <p>
          {messages.waiting(waiting)} · {messages.held(held)}
        </p>
        {isChanging && (
          <DestinationForm
            endpointId={endpointId}
            destination={destination}
            onDone={() => setChanging(false)}
          />
        )}
        <DestinationActions
          endpointId={endpointId}
          destination={destination}
          onSecret={onSecret}
          isChanging={isChanging}
          onEdit={() => setChanging(!isChanging)}
        />
      </Stack>
    </TitledCard>
  )
}

function DestinationStatus({ state, failingSince }: Destination) {
  const tones: Record<Destination['state'], Tone> = {
    active: 'good',
    paused: 'unknown',
    off: 'bad',
  }
  if (state === 'active' && failingSince) return <Status tone="warn">{messages.failing}</Status>
  return <Status tone={tones[state]}>{messages.states[state]}</Status>
}

type ActionsProps = DestinationCardProps & { isChanging: boolean; onEdit: () => void }

function DestinationActions({
  endpointId,
  destination,
  onSecret,
  isChanging,
  onEdit,
}: ActionsProps) {
  const access = useAccess()
  const queries = useQueryClient()
  const [problem, setProblem] = useState('')
  const [tested, setTested] = useState<TestResult | null>(null)
  const { id, state, sign } = destination
  const name = destinationName(destination)
  const own = destinationsOf(endpointId)
  const query = destinationsQuery(endpointId)

  async function attempt(work: () => Promise<unknown>): Promise<void> {
    setProblem('')
    try {
      await work()
      await queries.invalidateQueries(query)
    } catch (error) {
      setProblem((error as Error).message)
    }
  }
  async function test(): Promise<void> {
    setTested(null)
    await attempt(async () => setTested(await own.test(id)))
  }
  function remove(): void {
    const text = messages.deleting(name)
    deleteWithUndo(queries, { id, text, list: query.queryKey, send: () => own.remove(id) })
  }

  const about = <VisuallyHidden>{name}</VisuallyHidden>
  const quiet = { ...access, size: 'small', kind: 'quiet' } as const
  return (
    <>
      <Row>
        <Button {...access} size="small" onClick={onEdit}>
          {isChanging ? messages.cancel : messages.edit} {about}
        </Button>
        <Button {...quiet} onClick={() => void test()}>
          {messages.test} {about}
        </Button>
        {state === 'active' ? (
          <Button {...quiet} onClick={() => void attempt(() => own.pause(id))}>
            {messages.pause} {about}
          </Button>
        ) : (
          <Button {...quiet} onClick={() => void attempt(() => own.resume(id, 'send'))}>
            {messages.resume} {about}
          </Button>
        )}
        {state !== 'active' && destination.held > 0 && (
          <Button {...quiet} onClick={() => void attempt(() => own.resume(id, 'drop'))}>
            {messages.resumeDrop} {about}
          </Button>
        )}
        {sign !== 'none' && (
          <ConfirmButton
            {...access}
            label={messages.rotate}
            about={name}
            title={messages.rotateTitle}
            kind="plain"
            onConfirm={async () => onSecret((await own.rotate(id)).secret)}
          >
            {messages.rotateText}
          </ConfirmButton>
        )}
        <Button {...quiet} onClick={remove}>
          {messages.delete} {about}
        </Button>
      </Row>
      <div role="alert">{problem && <Notice tone="bad">{problem}</Notice>}</div>
      <div role="status">{tested && <Tested result={tested} />}</div>
    </>
  )
}

/** What became of a test event. */
function Tested({
  result: { delivered, status, durationMs, error, answer },
}: {
  result: TestResult
}) {
  return (
    <Notice tone={delivered ? 'good' : 'bad'}>
      {messages.tested(status, durationMs)} {status === null && error}
      {answer && (
        <details>
          <summary>{messages.answer}</summary>
          <pre>{answer}</pre>
        </details>
      )}
    </Notice>
  )
}
