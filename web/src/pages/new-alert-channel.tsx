import { useQuery } from '@tanstack/react-query'
import { channelTypesQuery } from '../alerts/api.ts'
import { picker as messages } from '../alerts/channels/messages.ts'
import { TypePicker } from '../alerts/channels/type-picker.tsx'
import { LoadingOrError } from '../ui/feedback/loading.tsx'
import { Page } from '../ui/layout/page.tsx'
import { BackLink } from '../ui/navigation/back-link.tsx'

export function Screen() {
  const { data: types, error } = useQuery(channelTypesQuery)
  return (
    <Page
      title={messages.title}
      lead={messages.lead}
      above={<BackLink to="/alerts/channels">{messages.back}</BackLink>}
    >
      <LoadingOrError there={types} error={error} lines={6} shape="cards">
        {messages.loading}
      </LoadingOrError>
      {types && <TypePicker types={types} />}
    </Page>
  )
}
