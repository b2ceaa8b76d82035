import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { showToast } from '../../toasts.ts'
import { Button } from '../../ui/actions/button.tsx'
import { Notice } from '../../ui/feedback/notice.tsx'
import { Muted, Row, Section } from '../../ui/layout/page.tsx'
import { csvText } from '../../ui/lists/csv.ts'
import { saveCsv } from '../../ui/lists/save-csv.ts'
import { Table } from '../../ui/lists/table.tsx'
import { DateText } from '../../ui/text/date-text.tsx'
import { VisuallyHidden } from '../../ui/text/visually-hidden.tsx'
import { useAccess } from '../../workspaces/roles.ts'
import { migrations, isLinkOpen, type CreatedLink, type OwnerLink, type Side } from '../api.ts'
import { owners as messages } from '../messages.ts'
import { OwnerLinkState } from '../owner-link-state.tsx'
import { batches, batchLinksQuery, type Batch } from './api.ts'

/** Links in the table; the file has all. */
const MAX_SHOWN = 100

/** The links with which the owners of the mailboxes of a batch sign in. */
export function BatchOwnerLinks({ batch }: { batch: Batch }) {
  const { id, counts, finishedAt } = batch
  const waiting = counts['waiting_for_owner'] ?? 0
  const { data: links = [] } = useQuery(batchLinksQuery(id))
  if (waiting === 0 && links.length === 0) return null
  return (
    <Section title={messages.sectionTitle}>
      <Muted>{messages.text}</Muted>
      {waiting > 0 && finishedAt === null && <CreateLinks batch={batch} waiting={waiting} />}
      {links.length > 0 && <LinkTable batchId={id} links={links} />}
    </Section>
  )
}

function CreateLinks({ batch: { id }, waiting }: { batch: Batch; waiting: number }) {
  const access = useAccess()
  const queries = useQueryClient()
  const [created, setCreated] = useState<CreatedLink[]>([])

  async function create(side: Side): Promise<void> {
    try {
      setCreated(await batches.createLinks(id, side))
      await queries.invalidateQueries(batchLinksQuery(id))
    } catch (error) {
      showToast({ text: (error as Error).message })
    }
  }

  return (
    <>
      <Row>
        {(['source', 'destination'] as const).map((side) => (
          <Button key={side} {...access} onClick={() => void create(side)}>
            {messages.createAll(waiting, messages.side[side])}
          </Button>
        ))}
      </Row>
      {created.length > 0 && (
        <div role="status">
          <Notice tone="good" title={messages.created(created.length)}>
            <p>{messages.downloadHint}</p>
            <Button size="small" onClick={() => download(id, created)}>
              {messages.download}
            </Button>
          </Notice>
        </div>
      )}
    </>
  )
}

function download(id: string, links: CreatedLink[]): void {
  const rows = links.map(({ user, host, side, url }) => [user, host, side, url])
  saveCsv(`owner-links-${id}`, csvText([...messages.csv], rows))
}

function LinkTable({ batchId, links }: { batchId: string; links: OwnerLink[] }) {
  const shown = links.slice(0, MAX_SHOWN)
  return (
    <>
      <Table caption={messages.caption} quiet columns={[...messages.columns]}>
        {shown.map((link) => (
          <LinkRow key={link.id} batchId={batchId} link={link} />
        ))}
      </Table>
      {links.length > shown.length && <Muted>{messages.more(shown.length, links.length)}</Muted>}
    </>
  )
}

function LinkRow({ batchId, link }: { batchId: string; link: OwnerLink }) {
  const access = useAccess()
  const queries = useQueryClient()

  async function revoke(): Promise<void> {
    try {
      await migrations.revokeLink(link.id)
    } catch (error) {
      showToast({ text: (error as Error).message })
    }
    await queries.invalidateQueries(batchLinksQuery(batchId))
  }

  return (
    <tr>
      <th scope="row">
        {link.user}
        <small>{messages.of(messages.side[link.side], link.host)}</small>
      </th>
      <td>
        <OwnerLinkState link={link} />
      </td>
      <td>
        <Muted>
          <DateText at={link.expiresAt} />
        </Muted>
      </td>
      <td>
        {isLinkOpen(link) && (
          <Button {...access} size="small" kind="quiet" onClick={() => void revoke()}>
            {messages.revoke} <VisuallyHidden>{link.user}</VisuallyHidden>
          </Button>
        )}
      </td>
    </tr>
  )
}
