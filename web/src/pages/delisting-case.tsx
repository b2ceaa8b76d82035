import { useQuery } from '@tanstack/react-query'
import { Link, useParams } from '@tanstack/react-router'
import { delistingQuery, type DelistingWithHistory, type Step } from '../delisting/api.ts'
import { StepCard } from '../delisting/step-card.tsx'
import { stepsToForward, isFinal, stepsNeedingAction, summarizeDelisting, describeStatus } from '../delisting/status.ts'
import { Ago } from '../ui/text/ago.tsx'
import { BackLink } from '../ui/navigation/back-link.tsx'
import { Facts } from '../ui/lists/facts.tsx'
import { Notice } from '../ui/feedback/notice.tsx'
import { Page, Section, Muted, Stack } from '../ui/layout/page.tsx'
import { Table } from '../ui/lists/table.tsx'
import { LoadingOrError } from '../ui/feedback/loading.tsx'
import { counted } from '../ui/text/format.ts'

export function Screen() {
  const { id } = useParams({ from: '/own/delisting/$id' })
  const { data, error } = useQuery(delistingQuery(id))
  return (
    <Page title={data ? `Delisting of ${data.ip}` : 'Delisting'} above={<BackLink to="/delisting">Delisting</BackLink>}>
      <LoadingOrError there={data} error={error} lines={5}>
        Fetching the delisting …
      </LoadingOrError>
      {data && <Known it={data} />}
    </Page>
  )
}

function Known({ it }: { it: DelistingWithHistory }) {
  const waiting = stepsNeedingAction(it)
  const forwarded = stepsToForward(it)
  const open = it.steps.filter((step) => !isFinal(step) && !waiting.includes(step) && !forwarded.includes(step))
  const failed = it.steps.filter(({ status }) => status === 'failed')
  const done = it.steps.filter(({ status }) => status === 'completed')
  return (
    <>
      <div role="status">
        <Notice tone={describeStatus(it).tone}>
          <strong>{summarizeDelisting(it)}</strong>
          {it.relistedAfter && (
            <p>
              It was listed again: a{' '}
              <Link to="/delisting/$id" params={{ id: it.relistedAfter }}>
                delisting of the last 30 days
              </Link>{' '}
              had cleared it. Is the cause really gone?
            </p>
          )}
        </Notice>
      </div>
      <Steps title="What to do now" it={it} steps={waiting} />
      <Steps title="For your provider" it={it} steps={forwarded} />
      <Steps title="Goes on by itself" it={it} steps={open} />
      <Steps title="Ended without success" it={it} steps={failed} />
      <Steps title="Off the list" it={it} steps={done} />
      <Section title="What was found">
        <Found it={it} />
      </Section>
      <Section title="What happened">
        <Events it={it} />
      </Section>
    </>
  )
}

function Steps({ title, it, steps }: { title: string; it: DelistingWithHistory; steps: Step[] }) {
  if (steps.length === 0) return null
  return (
    <Section title={title}>
      <Stack rows>
        {steps.map((step) => (
          <StepCard key={step.id} of={it} step={step} />
        ))}
      </Stack>
    </Section>
  )
}

const REVERSE: Record<NonNullable<DelistingWithHistory['reverseDns']>['status'], string> = {
  confirmed: 'leads back to the address',
  unconfirmed: 'does not lead back to the address',
  missing: 'There is none.',
  unknown: 'It could not be asked.',
}

function Found({ it }: { it: DelistingWithHistory }) {
  const { listsAsked, listsUnknown, reverseDns, cause, fix, notPursued, createdAt, completedAt } = it
  return (
    <Facts
      facts={[
        [
          'Asked',
          counted(listsAsked, 'blacklist') +
            (listsUnknown > 0 ? `, of which ${listsUnknown} gave no usable answer` : ''),
        ],
        ['Reverse DNS', reverseDns && [...reverseDns.names, REVERSE[reverseDns.status]].join(', ')],
        ['Cause', cause],
        ['Fix', fix],
        [
          'Left alone',
          notPursued.length > 0 && (
            <ul key="left">
              {notPursued.map(({ blacklistName, reason }) => (
                <li key={blacklistName}>
                  {blacklistName}: <Muted>{reason}</Muted>
                </li>
              ))}
            </ul>
          ),
        ],
        ['Begun', <Ago key="begun" at={createdAt} />],
        ['Ended', completedAt && <Ago key="ended" at={completedAt} />],
      ]}
    />
  )
}

function Events({ it: { events, steps } }: { it: DelistingWithHistory }) {
  const names = new Map(steps.map(({ id, blacklistName }) => [id, blacklistName]))
  if (events.length === 0) return <Muted>Nothing yet.</Muted>
  return (
    <Table caption="What happened" quiet columns={['Blacklist', 'What', 'When']}>
      {events.toReversed().map(({ stepId, at, text }, index) => (
        <tr key={`${at} ${index}`}>
          <th scope="row">{names.get(stepId)}</th>
          <td>{text}</td>
          <td>
            <Muted>
              <Ago at={at} />
            </Muted>
          </td>
        </tr>
      ))}
    </Table>
  )
}
