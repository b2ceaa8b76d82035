import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { Notice } from '../../ui/feedback/notice.tsx'
import { Status } from '../../ui/feedback/status.tsx'
import { Form, TextField } from '../../ui/forms/form.tsx'
import { Disclosure } from '../../ui/layout/disclosure.tsx'
import { Card, Stack } from '../../ui/layout/page.tsx'
import { Table } from '../../ui/lists/table.tsx'
import { Ago } from '../../ui/text/ago.tsx'
import { DateText, ExactTime } from '../../ui/text/date-text.tsx'
import { useAccess } from '../../workspaces/roles.ts'
import { sndsQuery, statistics, type SndsAccess } from './api.ts'
import { snds as messages } from './messages.ts'
import { ACCESS_TONES, RemoveAccess } from './provider-card.tsx'
import { SndsSignIn } from './snds-sign-in.tsx'

/** The sign-in or the links of SNDS, of which a workspace has one for all of its addresses. */
export function SndsAccessCard() {
  const { data } = useQuery(sndsQuery)
  if (!data) return null
  const { access, blocks } = data
  return (
    <Card>
      <Stack>
        <h3>{messages.title}</h3>
        {access === null ? <p>{messages.lead}</p> : <State access={access} />}
        {blocks.length > 0 && <Blocks blocks={blocks} />}
        <p>
          <a href={messages.portalUrl} target="_blank" rel="noreferrer">
            {messages.portal}
          </a>
        </p>
        <SndsSignIn access={access} />
        <Disclosure summary={access?.kind === 'links' ? messages.enterNew : messages.enter}>
          {() => <LinksForm approvedOn={access?.approvedOn ?? ''} />}
        </Disclosure>
        {access !== null && (
          <>
            <Disclosure summary={messages.enterDay}>
              {() => <ApprovalForm approvedOn={access.approvedOn ?? ''} />}
            </Disclosure>
            <RemoveAccess messages={messages} remove={statistics.disconnectSnds} />
          </>
        )}
      </Stack>
    </Card>
  )
}

function State({ access }: { access: NonNullable<SndsAccess['access']> }) {
  const { state, account, problem, unreadable, fetchedAt, linksEndAt, approvalEndsOn } = access
  return (
    <>
      <p>
        <Status tone={ACCESS_TONES[state]}>{messages.states[state]}</Status>{' '}
        {account !== null && `${messages.account(account)} `}
        {fetchedAt === null ? (
          messages.never
        ) : (
          <>
            {messages.fetched} <Ago at={fetchedAt} />
          </>
        )}
      </p>
      {problem !== null && <Notice tone={state === 'ended' ? 'bad' : 'warn'}>{problem}</Notice>}
      {unreadable !== null && (
        <Notice tone="unknown" title={messages.unreadable}>
          <p>{unreadable}</p>
        </Notice>
      )}
      <p>
        {linksEndAt !== null && (
          <>
            {messages.linksEnd} <ExactTime at={linksEndAt} />.{' '}
          </>
        )}
        {approvalEndsOn === null ? (
          messages.noApproval
        ) : (
          <>
            {messages.approvalEnds} <DateText at={approvalEndsOn} />.
          </>
        )}
      </p>
    </>
  )
}

function Blocks({ blocks }: Pick<SndsAccess, 'blocks'>) {
  const [, reasonColumn] = messages.blockColumns
  return (
    <Table caption={messages.blocks} columns={messages.blockColumns}>
      {blocks.map(({ first, last, detail }) => (
        <tr key={`${first} ${last} ${detail}`}>
          <th scope="row">{messages.range(first, last)}</th>
          <td data-label={reasonColumn}>{detail}</td>
        </tr>
      ))}
    </Table>
  )
}

function LinksForm({ approvedOn }: { approvedOn: string }) {
  const access = useAccess()
  const queries = useQueryClient()
  const [saved, setSaved] = useState(0)

  async function save(values: Record<string, string>): Promise<void> {
    const [statusLink = '', approved = ''] = [values['statusLink'], values['approvedOn']].map(
      (value) => value?.trim(),
    )
    await statistics.enterLinks({
      dataLink: (values['dataLink'] ?? '').trim(),
      ...(statusLink !== '' && { statusLink }),
      ...(approved !== '' && { approvedOn: approved }),
    })
    await queries.invalidateQueries({ queryKey: ['provider-statistics'] })
    setSaved(saved + 1)
  }

  return (
    <Form key={saved} {...access} submit={messages.submit} check={findMistakes} onSubmit={save}>
      <p>{messages.linksLead}</p>
      <TextField name="dataLink" label={messages.data} autoComplete="off" inputMode="url" />
      <TextField name="statusLink" label={messages.status} autoComplete="off" inputMode="url" />
      <TextField
        name="approvedOn"
        label={messages.approved}
        placeholder={messages.dayExample}
        autoComplete="off"
        defaultValue={approvedOn}
      />
    </Form>
  )
}

/** The access is approved in the portal more rarely than links are created. */
function ApprovalForm({ approvedOn }: { approvedOn: string }) {
  const access = useAccess()
  const queries = useQueryClient()
  return (
    <Form
      {...access}
      submit={messages.submitDay}
      check={findWrongDay}
      onSubmit={async (values) => {
        await statistics.approve((values['approvedOn'] ?? '').trim())
        await queries.invalidateQueries({ queryKey: ['provider-statistics'] })
      }}
    >
      <TextField
        name="approvedOn"
        label={messages.approvedOn}
        placeholder={messages.dayExample}
        autoComplete="off"
        defaultValue={approvedOn}
      />
    </Form>
  )
}

function findWrongDay(values: Record<string, string>): Record<string, string> {
  const day = values['approvedOn']?.trim() ?? ''
  const isDay = /^\d{4}-\d\d-\d\d$/.test(day) && !Number.isNaN(Date.parse(day))
  return isDay ? {} : { approvedOn: messages.wrongDay }
}

function findMistakes(values: Record<string, string>): Record<string, string> {
  return {
    ...(!values['dataLink']?.trim() && { dataLink: messages.missing }),
    ...(values['approvedOn']?.trim() && findWrongDay(values)),
  }
}
