import { useQuery } from '@tanstack/react-query'
import { peersQuery } from '../attacks/federation/api.ts'
import { federation as messages } from '../attacks/federation/messages.ts'
import { NewPeerForm } from '../attacks/federation/new-peer-form.tsx'
import { OwnIdentity } from '../attacks/federation/own-identity.tsx'
import { PeerCards } from '../attacks/federation/peer-list.tsx'
import { administration } from '../attacks/messages.ts'
import { accountQuery } from '../queries.ts'
import { LoadingOrError } from '../ui/feedback/loading.tsx'
import { Notice } from '../ui/feedback/notice.tsx'
import { Columns, Page } from '../ui/layout/page.tsx'

export function Screen() {
  const { data: account } = useQuery(accountQuery)
  return (
    <Page wide title={messages.title} lead={messages.lead}>
      {account?.admin ? <Federation /> : <Notice tone="unknown">{administration.denied}</Notice>}
    </Page>
  )
}

function Federation() {
  const { data, error } = useQuery(peersQuery)
  return (
    <>
      <LoadingOrError there={data} error={error} lines={6}>
        {messages.loading}
      </LoadingOrError>
      {data && (
        <>
          <Columns>
            <OwnIdentity {...data.own} />
            <NewPeerForm />
          </Columns>
          <PeerCards peers={data.peers} />
        </>
      )}
    </>
  )
}
