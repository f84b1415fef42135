#import <Foundation/Foundation.h>
@import UIKit;
#define LIMIT 10
@class Forward;
enum Level { LevelLow, LevelHigh };
typedef void (^Completion)(NSError *_Nullable error);
static NSString *const kName = @"name";

@protocol Drawable <NSObject>
@required
- (void)drawAtPoint:(CGPoint)point scale:(CGFloat)scale;
@optional
@property (nonatomic, readonly) CGFloat area;
+ (instancetype)shape;
@end

@interface Circle<ObjectType> : NSObject <Drawable, NSCopying> {
  @private
  CGFloat _radius;
}
@property (nonatomic, copy, nullable) NSString *title;
@property (nonatomic, weak) id<Drawable> delegate;
- (instancetype)initWithRadius:(CGFloat)radius NS_DESIGNATED_INITIALIZER;
@end

@interface Circle (Geometry)
- (CGFloat)circumference;
@end

@implementation Circle
@synthesize title = _title;
- (instancetype)initWithRadius:(CGFloat)radius {
  if (self = [super init]) { CGFloat local = radius; _radius = local; }
  return self;
}
- (void)drawAtPoint:(CGPoint)point scale:(CGFloat)scale {
  dispatch_async(dispatch_get_main_queue(), ^{ NSLog(@"%@ %@", @{@"a": @1}, @[@2]); });
  @autoreleasepool { for (id x in @[]) { @try { [x run]; } @catch (NSException *e) {} } }
}
+ (instancetype)shape { return [[self alloc] init]; }
@end

static int helper(int a) { return a; }
struct Plain { int x; };
int main(int argc, char *argv[]) { return 0; }
