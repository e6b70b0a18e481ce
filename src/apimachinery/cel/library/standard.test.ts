// The language itself: logic, numbers, comparisons, conversions, patterns, named formats.
import { testRows } from '../rows.suite.ts';

const failed = (from: string, to: string): string => `!type conversion error from '${from}' to '${to}'`;

testRows('logic absorbs failures', [
  ['true || 1 / 0 > 0', 'true'], ['1 / 0 > 0 || true', 'true'], ['1 / 0 > 0 && false', 'false'], ['1 / 0 > 0 || false', '!division by zero'],
  ['true ? 1 : 1 / 0', '1'],
  ['false ? 1 / 0 : 2', '2'], ['!true', 'false'], ['!!true', 'true'], ['dyn(1) && true', '!no such overload'], ['dyn(1) || true', 'true'],
  ['1 / 0 > 0 ? 1 : 2', '!division by zero'],
]);

testRows('numbers have 64 bits', [
  ['1 + 2 * 3', '7'], ['7 / 2', '3'], ['-7 / 2', '-3'], ['-7 % 3', '-1'], ['1 / 0', '!division by zero'], ['1 % 0', '!modulus by zero'],
  ['9223372036854775807 + 1', '!integer overflow'],
  ['-9223372036854775808 - 1', '!integer overflow'], ['9223372036854775807 * 2', '!integer overflow'], ['-(-9223372036854775808)', '!integer overflow'],
  ['1u - 2u', '!unsigned integer overflow'],
  ['18446744073709551615u + 1u', '!unsigned integer overflow'], ['5u / 2u', '2u'], ['5u % 0u', '!modulus by zero'], ['1.0 / 0.0', 'Infinity'],
  ['9007199254740993 + 0', '9007199254740993'],
  ['0x10', '16'], ['1e3', '1000.0'], ['.5', '0.5'], ['-1', '-1'], ['--1', '1'],
  ['1 + 1.0', "?found no matching overload for '_+_' applied to '(int, double)'"],
]);

testRows('comparisons cross types of numbers', [
  ['1 < 1.5', 'true'], ['1u < 2', 'true'], ['dyn(1) == dyn(1.0)', 'true'],
  ['1 == 1u', "?found no matching overload for '_==_' applied to '(int, uint)'"], ['double("NaN") == double("NaN")', 'false'],
  ['1 < double("NaN")', 'false'], ['false < true', 'true'], ["b'a' < b'b'", 'true'], ['null == null', 'true'], ["dyn(1) == dyn('1')", 'false'],
  ["dyn(1) < dyn('1')", '!no such overload'],
  ['9223372036854775807 == dyn(9223372036854775807.0)', 'true'], ["type(1) == int", 'true'], ['type(type(1)) == type', 'true'],
  ["type(dyn('a'))", 'type(string)'],
]);

testRows('conversions', [
  ["int('42')", '42'], ["int('+42')", '42'], ["int('-0042')", '-42'], ["int('4 2')", failed('string', 'int')], ["int('')", failed('string', 'int')],
  ["int('9223372036854775808')", failed('string', 'int')],
  ["int('--1')", failed('string', 'int')], ['int(1.9)', '1'], ['int(-1.9)', '-1'], ['int(1e19)', '!integer overflow'], ['int(1u)', '1'],
  ['int(18446744073709551615u)', '!integer overflow'],
  ["uint('42')", '42u'], ["uint('-1')", failed('string', 'uint')], ['uint(-1)', '!unsigned integer overflow'], ['uint(1.9)', '1u'],
  ["double('1.5')", '1.5'], ["double('1e3')", '1000.0'],
  ["double('-inf')", '-Infinity.0'.replace('.0', '')], ["double('1.5x')", failed('string', 'double')], ["double('1.')", '1.0'],
  ["double('.')", failed('string', 'double')], ["double('1_0.5')", '10.5'], ["double('1_')", failed('string', 'double')], ["double('0x1p-2')", '0.25'],
  ["double('0X_1.8p+1')", '3.0'], ["double('0x1.8')", failed('string', 'double')], ["double('0x1.fffffffffffff8p0')", '2.0'],
  ["double('0x1p1024')", failed('string', 'double')], ["double('0x1p-1074') > 0.0", 'true'], ["double('0x1p-1076') == 0.0", 'true'],
  ["double('-nan')", failed('string', 'double')],
  ['double(1)', '1.0'], ['string(1.5)', '"1.5"'], ['string(1e6)', '"1e+06"'], ['string(123456.0)', '"123456"'], ['string(true)', '"true"'],
  ["string(b'a')", '"a"'],
  ["string(b'\\xff')", '!invalid UTF-8 in bytes, cannot convert to string'], ["bytes('é')", 'b"c3a9"'], ["bool('true')", 'true'], ["bool('T')", 'true'],
  ["bool('yes')", failed('string', 'bool')],
]);

testRows('patterns', [
  ["'abc'.matches('^a.c$')", 'true'], ["matches('abc', 'b')", 'true'], ["'abc'.matches('^b')", 'false'], ["'abc'.matches('(')", '?invalid matches argument'],
  ["'abc 123'.find('[0-9]+')", '"123"'], ["'abc'.find('[0-9]+')", '""'], ["'1 2 3'.findAll('[0-9]')", '["1", "2", "3"]'],
  ["'1 2 3'.findAll('[0-9]', 2)", '["1", "2"]'],
  ["'aXbX'.findAll('X*')", '["", "X", "X"]'], ["'aXbX'.findAll('[a-z]*', 2)", '["a", "b"]'], ["'255'.findAll('.*')", '["255"]'],
  ["'1 2 3'.findAll('[0-9]', 0)", '[]'], ["'abc'.findAll('x')", '[]'],
]);

testRows('named formats', [
  ["format.dns1123Label().validate('a-b')", 'none'], ["format.dns1123Label().validate('A').hasValue()", 'true'],
  ["format.dns1123Subdomain().validate('a.b')", 'none'],
  ["format.dns1035Label().validate('1a').hasValue()", 'true'], ["format.qualifiedName().validate('a/b')", 'none'],
  ["format.labelValue().validate('-').hasValue()", 'true'],
  ["format.dns1123LabelPrefix().validate('a-')", 'none'], ["format.uuid().validate('123e4567-e89b-12d3-a456-426614174000')", 'none'],
  ["format.uuid().validate('x')", 'optional(["does not match the UUID format"])'], ["format.byte().validate('YWI=')", 'none'],
  ["format.byte().validate('YW=')", 'optional(["invalid base64"])'],
  ["format.byte().validate('')", 'none'], ["format.byte().validate('Y===')", 'optional(["invalid base64"])'],
  ["format.date().validate('2020-01-31')", 'none'],
  ["format.date().validate('2020-01-32')", 'optional(["invalid date"])'], ["format.datetime().validate('2020-01-31T00:00:00Z')", 'none'],
  ["format.datetime().validate('x')", 'optional(["invalid datetime"])'],
  ["format.uri().validate('https://a')", 'none'], ["format.uri().validate('x')", 'optional(["parse \\"x\\": invalid URI for request"])'],
  ["format.uri().validate('')", 'optional(["parse \\"\\": empty url"])'],
  ["format.named('dns1123Label').hasValue()", 'true'],
  ["format.named('nothing')", 'none'], ["format.named('uuid').value() == format.uuid()", 'true'],
]);
