/** Days from which a chart has a bar for each month. */
const MAX_CHART_DAYS = 366

/** Whether a chart of these days shows months: `2026-11` in place of `2026-11-21`. */
export function showsMonths({ from, to }: { from: string; to: string }): boolean {
  return (Date.parse(to) - Date.parse(from)) / 86_400_000 >= MAX_CHART_DAYS
}

/** The months from the first day to the last, both inclusive. */
export function monthsBetween(from: string, to: string): string[] {
  const number = (day: string) => Number(day.slice(0, 4)) * 12 + Number(day.slice(5, 7)) - 1
  return Array.from({ length: number(to) - number(from) + 1 }, (_, index) => {
    const at = number(from) + index
    return `${String(Math.floor(at / 12)).padStart(4, '0')}-${String((at % 12) + 1).padStart(2, '0')}`
  })
}

type Counted = { day: string; messages: number; pass: number }

/** Sums days by month, in order, without months that have none. */
export function sumByMonth(days: Counted[]): Counted[] {
  const months = new Map<string, Counted>()
  for (const { day, messages, pass } of days) {
    const month = day.slice(0, 7)
    const sum = months.get(month) ?? { day: month, messages: 0, pass: 0 }
    months.set(month, { ...sum, messages: sum.messages + messages, pass: sum.pass + pass })
  }
  return [...months.values()]
}
