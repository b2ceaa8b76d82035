import { onlineManager, QueryClient, QueryClientProvider } from '@tanstack/react-query'
import { RouterProvider } from '@tanstack/react-router'
import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { isTemporary } from './api.ts'
import { sendDeletionsOnLeave } from './deletions.ts'
import { followBrowserConnection, watchReachability } from './reachability.ts'
import { createDashboard, preloadScreen } from './routes.tsx'
import { UiProvider } from './ui/theme/ui-provider.tsx'

// Queries pause while the service does not answer, and continue once it does.
onlineManager.setEventListener(watchReachability)
followBrowserConnection()
sendDeletionsOnLeave()

const queries: QueryClient = new QueryClient({
  defaultOptions: { queries: { retry: (count, error) => count < 2 && isTemporary(error) } },
})
const router = createDashboard(queries)
// The file of the first screen loads while the service is asked whose session it is.
void preloadScreen(router)

createRoot(document.getElementById('app') as HTMLElement).render(
  <StrictMode>
    <QueryClientProvider client={queries}>
      <UiProvider>
        <RouterProvider router={router} />
      </UiProvider>
    </QueryClientProvider>
  </StrictMode>,
)
