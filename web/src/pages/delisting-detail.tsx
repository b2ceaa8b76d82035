import { AddressLink } from '../addresses/address-link.tsx'
import { useQuery } from '@tanstack/react-query'
import { Link, useParams } from '@tanstack/react-router'
import { delistingQuery, type DelistingWithHistory, type Step } from '../delisting/api.ts'
import { detail, list } from '../delisting/messages.ts'
import { CauseAndFix } from '../delisting/cause-and-fix-form.tsx'
import { StepLine } from '../delisting/step-line.tsx'
import {
  stepsToForward,
  isFinal,
  stepsNeedingAction,
  summarizeDelisting,
  describeStatus,
} from '../delisting/delisting-status.ts'
import { Ago } from '../ui/text/ago.tsx'
import { BackLink } from '../ui/navigation/back-link.tsx'
import { Facts } from '../ui/lists/facts.tsx'
import { Notice } from '../ui/feedback/notice.tsx'
import { Page, Section, Muted, Stack } from '../ui/layout/page.tsx'
import { Table } from '../ui/lists/table.tsx'
import { LoadingOrError } from '../ui/feedback/loading.tsx'

export function Screen() {
  const { id } = useParams({ from: '/own/delisting/$id' })
  const { data, error } = useQuery(delistingQuery(id))
  return (
    <Page
      wide
      rail={
        data ? (
          <Section title={detail.summary}>
            <Summary delisting={data} />
          </Section>
        ) : null
      }
      title={data ? detail.title(data.ip) : list.title}
      above={<BackLink to="/delisting">{list.title}</BackLink>}
    >
      <LoadingOrError there={data} error={error} lines={5}>
        {detail.loading}
      </LoadingOrError>
      {data && <Content delisting={data} />}
    </Page>
  )
}

function Content({ delisting }: { delisting: DelistingWithHistory }) {
  const waiting = stepsNeedingAction(delisting)
  const forwarded = stepsToForward(delisting)
  const open = delisting.steps.filter(
    (step) => !isFinal(step) && !waiting.includes(step) && !forwarded.includes(step),
  )
  const failed = delisting.steps.filter(({ status }) => status === 'failed')
  const done = delisting.steps.filter(({ status }) => status === 'completed')
  return (
    <>
      <div role="status">
        <Notice tone={describeStatus(delisting).tone}>
          <strong>{summarizeDelisting(delisting)}</strong>
          {delisting.relistedAfter && (
            <p>
              {detail.relisted}{' '}
              <Link to="/delisting/$id" params={{ id: delisting.relistedAfter }}>
                {detail.earlierDelisting}
              </Link>
              . {detail.relistedAdvice}
            </p>
          )}
        </Notice>
      </div>
      <CauseAndFix of={delisting} />
      <Steps title={detail.needsAction} delisting={delisting} steps={waiting} />
      <Steps title={detail.forProvider} delisting={delisting} steps={forwarded} />
      <Steps title={detail.inProgress} delisting={delisting} steps={open} />
      <Steps title={detail.failed} delisting={delisting} steps={failed} />
      <Steps title={detail.completed} delisting={delisting} steps={done} />
      <Section title={detail.activity}>
        <Activity delisting={delisting} />
      </Section>
    </>
  )
}

function Steps({
  title,
  delisting,
  steps,
}: {
  title: string
  delisting: DelistingWithHistory
  steps: Step[]
}) {
  if (steps.length === 0) return null
  return (
    <Section title={title}>
      <Stack rows>
        {steps.map((step) => (
          <StepLine key={step.id} of={delisting} step={step} />
        ))}
      </Stack>
    </Section>
  )
}

function Summary({ delisting }: { delisting: DelistingWithHistory }) {
  const { listsAsked, listsUnknown, reverseDns, cause, fix, notPursued, createdAt, completedAt } =
    delisting
  return (
    <Facts
      facts={[
        [detail.address, <AddressLink key="address" address={delisting.ip} />],
        [detail.checked, detail.lists(listsAsked, listsUnknown)],
        [
          detail.reverseDns,
          reverseDns &&
            [...reverseDns.names, detail.reverseDnsStatus[reverseDns.status]].join(', '),
        ],
        [detail.cause, cause],
        [detail.fix, fix],
        [
          detail.notPursued,
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
        [detail.started, <Ago key="started" at={createdAt} />],
        [detail.ended, completedAt && <Ago key="ended" at={completedAt} />],
      ]}
    />
  )
}

function Activity({ delisting: { events, steps } }: { delisting: DelistingWithHistory }) {
  const names = new Map(steps.map(({ id, blacklistName }) => [id, blacklistName]))
  if (events.length === 0) return <Muted>{detail.noActivity}</Muted>
  return (
    <Table caption={detail.activity} quiet columns={[...detail.activityColumns]}>
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
