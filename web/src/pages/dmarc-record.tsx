import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useNavigate, useParams } from '@tanstack/react-router'
import { useState } from 'react'
import { dmarc, domainQuery, domainsQuery, type PublishedDomain } from '../dmarc/api.ts'
import { DomainPage } from '../dmarc/domains/domain-page.tsx'
import { RecordInstructions } from '../dmarc/domains/record-instructions.tsx'
import { deleteShown } from '../refresh-queries.ts'
import { Button } from '../ui/actions/button.tsx'
import { ConfirmButton } from '../ui/actions/confirm.tsx'
import { Snippet } from '../ui/actions/copy.tsx'
import { Disclosure } from '../ui/layout/disclosure.tsx'
import { Notice } from '../ui/feedback/notice.tsx'
import { Section, Muted } from '../ui/layout/page.tsx'
import { Status } from '../ui/feedback/status.tsx'
import { LoadingOrError } from '../ui/feedback/loading.tsx'

export function Screen() {
  const { id } = useParams({ from: '/own/dmarc/$id/record' })
  const { data: domain, error } = useQuery(domainQuery(id))
  return (
    <DomainPage id={id} part="DNS record">
      <LoadingOrError there={domain} error={error} lines={5}>
        Asking the DNS …
      </LoadingOrError>
      {domain && (
        <>
          <Section title="The record that asks for reports">
            <RecordInstructions domain={domain} />
          </Section>
          <Proof domain={domain} />
          <Section title="Delete the domain">
            <div>
              <Remove domain={domain} />
            </div>
          </Section>
        </>
      )}
    </DomainPage>
  )
}

const PROOFS: Record<NonNullable<PublishedDomain['verifiedBy']>, string> = {
  rua: 'Its DMARC record sends reports to the address that only you were given.',
  txt: 'The TXT record that only you were given is there.',
}

function Proof({ domain }: { domain: PublishedDomain }) {
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
      title="Is it yours?"
      aside={verified ? <Status tone="good">Verified</Status> : <Status tone="unknown">Not verified yet</Status>}
    >
      <Muted>
        {verifiedBy
          ? PROOFS[verifiedBy]
          : 'It counts as yours once the record above is published. Reports are taken meanwhile. The DNS is looked at every day, or now:'}
      </Muted>
      <div role="status">{state.problem && <Notice tone="warn">{state.problem}</Notice>}</div>
      <div>
        <Button kind={verified ? 'plain' : 'primary'} busy={state.busy} onClick={() => void verify()}>
          {verified ? 'Look again' : 'Verify now'}
        </Button>
      </div>
      {!verified && (
        <Disclosure summary="Another proof, without touching the DMARC record">
          <p>
            A TXT record at <code>{verification.name}</code>:
          </p>
          <Snippet what="the proof" text={verification.value} />
        </Disclosure>
      )}
    </Section>
  )
}

function Remove({ domain: { id, domain } }: { domain: PublishedDomain }) {
  const queries = useQueryClient()
  const navigate = useNavigate()

  async function remove(): Promise<void> {
    await deleteShown(id, () => dmarc.remove(id))
    await navigate({ to: '/dmarc' })
    await queries.invalidateQueries(domainsQuery)
  }

  return (
    <ConfirmButton label="Delete" about={domain} title={`Delete ${domain}?`} onConfirm={remove}>
      Its reports and statistics are deleted with it, and its address takes no more mail. This cannot be undone.
    </ConfirmButton>
  )
}
