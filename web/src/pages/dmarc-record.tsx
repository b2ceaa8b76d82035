import { LabelsForm } from '../labels/labels-form.tsx'
import { labels as labelMessages } from '../labels/messages.ts'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useNavigate, useParams } from '@tanstack/react-router'
import { useState } from 'react'
import { dmarc, domainQuery, domainsQuery, type PublishedDomain } from '../dmarc/api.ts'
import { DomainPage } from '../dmarc/domains/domain-page.tsx'
import { domainPage, record as messages, shared } from '../dmarc/messages.ts'
import { RecordInstructions } from '../dmarc/domains/record-instructions.tsx'
import { deleteWithUndo } from '../deletions.ts'
import { Button } from '../ui/actions/button.tsx'
import { Snippet } from '../ui/actions/copy.tsx'
import { Disclosure } from '../ui/layout/disclosure.tsx'
import { Notice } from '../ui/feedback/notice.tsx'
import { Section, Muted } from '../ui/layout/page.tsx'
import { Status } from '../ui/feedback/status.tsx'
import { LoadingOrError } from '../ui/feedback/loading.tsx'
import { useAccess } from '../workspaces/roles.ts'
import { VisuallyHidden } from '../ui/text/visually-hidden.tsx'

export function Screen() {
  const { id } = useParams({ from: '/own/dmarc/$id/record' })
  const { data: domain, error } = useQuery(domainQuery(id))
  // Until the first answer of DNS, a published record is unknown.
  const isChecked = domain !== undefined && domain.dns.checkedAt !== null
  return (
    <DomainPage
      id={id}
      part={domainPage.record}
      rail={
        domain ? (
          <>
            <Ownership domain={domain} />
            <DomainLabels domain={domain} />
            <Section title={messages.deleteTitle}>
              <Muted>{messages.deleteEffect}</Muted>
              <div>
                <Remove domain={domain} />
              </div>
            </Section>
          </>
        ) : null
      }
    >
      <LoadingOrError there={isChecked || undefined} error={error} lines={5} slow>
        {messages.checkingDns}
      </LoadingOrError>
      {domain && isChecked && (
        <Section title={messages.title}>
          <RecordInstructions domain={domain} />
        </Section>
      )}
    </DomainPage>
  )
}

function DomainLabels({ domain: { id, labels } }: { domain: PublishedDomain }) {
  const queries = useQueryClient()
  async function save(changed: string[]): Promise<void> {
    await dmarc.changeLabels(id, changed)
    queries.setQueryData(domainQuery(id).queryKey, (now) => now && { ...now, labels: changed })
    await queries.invalidateQueries(domainsQuery)
  }
  return (
    <Section title={labelMessages.title}>
      <LabelsForm labels={labels} save={save} />
    </Section>
  )
}

function Ownership({ domain }: { domain: PublishedDomain }) {
  const access = useAccess()
  const queries = useQueryClient()
  const [state, setState] = useState({ busy: false, problem: '' })
  const { id, verified, verifiedBy, verification } = domain

  async function verify(): Promise<void> {
    setState({ busy: true, problem: '' })
    try {
      const changed = await dmarc.verify(id)
      queries.setQueryData(domainQuery(id).queryKey, changed)
      await queries.invalidateQueries(domainsQuery)
      setState({ busy: false, problem: changed.problem ?? '' })
    } catch (error) {
      setState({ busy: false, problem: (error as Error).message })
    }
  }

  return (
    <Section
      title={messages.ownership}
      aside={
        verified ? (
          <Status tone="good">{shared.verified}</Status>
        ) : (
          <Status tone="unknown">{shared.notVerified}</Status>
        )
      }
    >
      <Muted>{verifiedBy ? messages.proofs[verifiedBy] : messages.unproven}</Muted>
      <div role="status">{state.problem && <Notice tone="warn">{state.problem}</Notice>}</div>
      <div>
        <Button
          {...access}
          kind={verified ? 'plain' : 'primary'}
          busy={state.busy}
          onClick={() => void verify()}
        >
          {verified ? messages.verifyAgain : messages.verify}
        </Button>
      </div>
      {!verified && (
        <Disclosure summary={messages.otherProof}>
          <p>
            {messages.otherProofAt} <code>{verification.name}</code> {messages.to}
          </p>
          <Snippet what={messages.copyProof} text={verification.value} />
        </Disclosure>
      )}
    </Section>
  )
}

function Remove({ domain: { id, domain } }: { domain: PublishedDomain }) {
  const access = useAccess()
  const queries = useQueryClient()
  const navigate = useNavigate()

  function remove(): void {
    deleteWithUndo(queries, {
      id,
      text: messages.deleting(domain),
      list: domainsQuery.queryKey,
      send: () => dmarc.remove(id),
    })
    void navigate({ to: '/dmarc' })
  }

  return (
    <Button {...access} kind="danger" onClick={remove}>
      {messages.delete} <VisuallyHidden>{domain}</VisuallyHidden>
    </Button>
  )
}
