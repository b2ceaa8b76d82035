import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { STEP_ADVICE, STEP_TITLES } from '../../../../src/migration/cutover/messages.ts'
import { Button } from '../../ui/actions/button.tsx'
import { ConfirmButton } from '../../ui/actions/confirm.tsx'
import { LoadingOrError } from '../../ui/feedback/loading.tsx'
import { Notice } from '../../ui/feedback/notice.tsx'
import { Status, type Tone } from '../../ui/feedback/status.tsx'
import { Muted, Row, Section, Stack } from '../../ui/layout/page.tsx'
import { TitledCard } from '../../ui/layout/titled-card.tsx'
import { Ago } from '../../ui/text/ago.tsx'
import { useAccess } from '../../workspaces/roles.ts'
import type { Batch } from '../batches/api.ts'
import { useBatchAction } from '../batches/batch-actions.tsx'
import { cutoverQuery, cutovers, type Cutover, type CutoverStep } from './api.ts'
import { BeginForm } from './begin-form.tsx'
import { ConfirmForm } from './confirm-form.tsx'
import { Evidence } from './evidence.tsx'
import { cutover as messages } from './messages.ts'

/** The cut-over of a batch: its steps, what was seen, and the next action. */
export function CutoverSection({ batch: { id, finishedAt } }: { batch: Batch }) {
  const { data, error } = useQuery(cutoverQuery(id))
  if (data === null && finishedAt !== null) return null
  const canBegin = finishedAt === null && data?.status !== 'open'
  return (
    <Section title={messages.title}>
      <Stack>
        <LoadingOrError there={data === undefined ? undefined : true} error={error} lines={2}>
          {messages.loading}
        </LoadingOrError>
        {data === null && <Muted>{messages.about}</Muted>}
        {data && <Steps batchId={id} cutover={data} />}
        {data !== undefined && canBegin && (
          <BeginForm batchId={id} summary={data === null ? messages.setUp : messages.again} />
        )}
      </Stack>
    </Section>
  )
}

function Steps({ batchId, cutover }: { batchId: string; cutover: Cutover }) {
  const { steps, status } = cutover
  return (
    <>
      <div role="status">
        <Notice tone={toneOf(cutover)}>
          <strong>{verdictOf(cutover)}</strong>
          {cutover.advice !== null && <p>{cutover.advice}</p>}
        </Notice>
      </div>
      {steps
        .filter(({ state }) => state !== 'waiting' || status === 'open')
        .map((step) => (
          <StepCard key={step.step} batchId={batchId} of={cutover} step={step} />
        ))}
      {status === 'open' && <Actions batchId={batchId} />}
    </>
  )
}

function verdictOf({ domain, status, steps }: Cutover): string {
  if (status === 'done') return messages.doneVerdict(domain)
  if (status === 'cancelled') return messages.cancelledVerdict(domain)
  const done = steps.filter(({ state }) => state === 'done').length
  return messages.openVerdict(domain, done, steps.length)
}

function toneOf({ status, needsAction }: Cutover): Tone {
  if (status === 'done') return 'good'
  return status === 'cancelled' || needsAction ? 'warn' : 'info'
}

type StepProps = { batchId: string; of: Cutover; step: CutoverStep }

function StepCard({ batchId, of, step }: StepProps) {
  const { step: name, state, outcome, person, closedAt, note } = step
  const isOpen = state === 'open' && of.status === 'open'
  return (
    <TitledCard title={STEP_TITLES[name]} aside={<StepStatus of={of} step={step} />}>
      {outcome !== null && closedAt !== null && (
        <p>
          {messages.outcomeBy(messages.outcomes[outcome], person)} <Ago at={closedAt} />
          {note !== null && <Muted> · {note}</Muted>}
        </p>
      )}
      {state !== 'done' && <Muted>{STEP_ADVICE[name]}</Muted>}
      {state !== 'waiting' && <Evidence step={name} of={of} />}
      {name === 'proof' && state !== 'waiting' && (
        <Link to="/migrations/batches/$id/proof" params={{ id: batchId }}>
          {messages.seeProof}
        </Link>
      )}
      {isOpen && name === 'final_pass' && of.finalPass.startedAt === null && (
        <FinalPassButton batchId={batchId} />
      )}
      {isOpen && <ConfirmForm batchId={batchId} step={name} />}
    </TitledCard>
  )
}

function StepStatus({ of, step: { state } }: Omit<StepProps, 'batchId'>) {
  if (state === 'done') return <Status tone="good">{messages.states.done}</Status>
  if (state === 'waiting' || of.status !== 'open')
    return <Status tone="unknown">{messages.states.waiting}</Status>
  return of.needsAction ? (
    <Status tone="warn">{messages.states.needed}</Status>
  ) : (
    <Status tone="info">{messages.states.open}</Status>
  )
}

function FinalPassButton({ batchId }: { batchId: string }) {
  const access = useAccess()
  const { isBusy, run } = useBatchAction(batchId)
  return (
    <Row>
      <Button
        {...access}
        kind="primary"
        busy={isBusy}
        onClick={() => void run(() => cutovers.startFinalPass(batchId))}
      >
        {messages.startFinalPass}
      </Button>
    </Row>
  )
}

function Actions({ batchId }: { batchId: string }) {
  const access = useAccess()
  const { isBusy, run } = useBatchAction(batchId)
  return (
    <Row>
      <Button
        {...access}
        size="small"
        busy={isBusy}
        onClick={() => void run(() => cutovers.check(batchId))}
      >
        {messages.check}
      </Button>
      <ConfirmButton
        {...access}
        label={messages.cancel}
        about=""
        title={messages.cancelTitle}
        onConfirm={() => run(() => cutovers.cancel(batchId))}
      >
        {messages.cancelText}
      </ConfirmButton>
    </Row>
  )
}
