import type { TestSettings as Given } from '#gen/postrider/broadcasts/v1/broadcasts_pb.ts';
import { invalidField } from '#lib/errors/errors.ts';
import type { TestSettings, WinnerMetric } from '../broadcast/row.ts';

const variationsMax = 8;
const durationMaxHours = 168;

/** The test settings as stored, checked in the order that the API promises. */
export function storedTestSettings(given: Given | undefined): TestSettings {
  const { enabled = false, variations = [] } = given ?? {};
  if (given && enabled) checkTest(given);
  else if (variations.length > 1) {
    throw refused('variations', 'exactly 1 variation is allowed without A/B testing');
  }
  checkVariations(variations);
  return {
    enabled,
    sample_percentage: given ? storedSample(given) : 0,
    auto_send_winner: given?.autoSendWinner ?? false,
    auto_send_winner_metric: metricOf(given?.autoSendWinnerMetric ?? ''),
    test_duration_hours: given?.testDurationHours ?? 0,
    variations: variations.map(({ templateId, variationName }) => ({
      template_id: templateId,
      variation_name: variationName,
    })),
  };
}

function sampleOf({ samplePercent, samplePercentage }: Given): number {
  return samplePercent ?? samplePercentage;
}

/** Without a test it is kept for later, and must be a number that every answer can hold. */
function storedSample(given: Given): number {
  const share = sampleOf(given);
  if (share >= 0 && share <= 100) return share;
  throw refused('sample_percentage', 'test sample percentage must be between 0 and 100');
}

function refused(field: string, text: string) {
  return invalidField(`test_settings.${field}`, text);
}

function checkTest(given: Given): void {
  const { variations, testDurationHours: hours } = given;
  const share = sampleOf(given);
  if (!(share >= 1 && share <= 100)) {
    throw refused('sample_percentage', 'test sample percentage must be between 1 and 100');
  }
  if (variations.length < 2) {
    throw refused('variations', 'at least 2 variations are required for A/B testing');
  }
  if (variations.length > variationsMax) {
    throw refused('variations', 'maximum 8 variations are allowed for A/B testing');
  }
  if (!given.autoSendWinner) return;
  if (hours <= 0) {
    const text = 'test duration must be greater than 0 hours when auto winner is enabled';
    throw refused('test_duration_hours', text);
  }
  if (hours > durationMaxHours) {
    throw refused('test_duration_hours', 'test duration cannot exceed 168 hours (7 days)');
  }
  if (given.autoSendWinnerMetric === '') {
    const text = 'auto send winner metric must be specified when auto winner is enabled';
    throw refused('auto_send_winner_metric', text);
  }
}

function metricOf(metric: string): WinnerMetric | '' {
  if (metric === '' || metric === 'open_rate' || metric === 'click_rate') return metric;
  const text = `invalid test winner metric: ${metric.slice(0, 50)}`;
  throw refused('auto_send_winner_metric', text);
}

function checkVariations(variations: Given['variations']): void {
  const seen = new Set<string>();
  variations.forEach(({ templateId, variationName }, index) => {
    const at = `variations[${index}]`;
    if (templateId === '') {
      throw refused(`${at}.template_id`, `template_id is required for variation ${index + 1}`);
    }
    if (seen.has(templateId)) {
      throw refused(`${at}.template_id`, `variation ${index + 1} has the template of another one`);
    }
    seen.add(templateId);
    if (variationName.length > 255) {
      throw refused(`${at}.variation_name`, 'variation_name must be at most 255 characters');
    }
  });
}
