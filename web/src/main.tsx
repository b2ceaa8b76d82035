import {
  notifyManager,
  onlineManager,
  QueryClient,
  QueryClientProvider,
} from '@tanstack/react-query'
import { RouterProvider } from '@tanstack/react-router'
import { startTransition, StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { isTemporary } from './api.ts'
import { sendDeletionsOnLeave } from './deletions.ts'
import { watchInteraction } from './interaction.ts'
import { followBrowserConnection, watchReachability } from './reachability.ts'
import { createDashboard, preloadScreen } from './routes.tsx'
import { followTheme } from './ui/theme/use-theme.ts'

// Queries pause while the service does not answer, and continue once it does.
onlineManager.setEventListener(watchReachability)
followBrowserConnection()
// In a later task, as is the default, a switch would go back for a moment after each click.
notifyManager.setScheduler(queueMicrotask)
sendDeletionsOnLeave()
followTheme()
watchInteraction()

/** Starts in several tasks: the browser paints and responds between them. */
const nextTask = () => new Promise<void>((resolve) => setTimeout(resolve))

async function start(): Promise<void> {
  const queries: QueryClient = new QueryClient({
    defaultOptions: { queries: { retry: (count, error) => count < 2 && isTemporary(error) } },
  })
  await nextTask()
  const router = createDashboard(queries)
  // The file of the first screen loads while the service is asked whose session it is.
  void preloadScreen(router)
  await nextTask()
  const root = createRoot(document.getElementById('app') as HTMLElement)
  // As a transition, the first screen is rendered in short steps.
  startTransition(() =>
    root.render(
      <StrictMode>
        <QueryClientProvider client={queries}>
          <RouterProvider router={router} />
        </QueryClientProvider>
      </StrictMode>,
    ),
  )
}

void start()
